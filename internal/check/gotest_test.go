package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const passing = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"run","Package":"m/a","Test":"TestX/T1_plain"}
{"Action":"pass","Package":"m/a","Test":"TestX/T1_plain","Elapsed":0.1}
{"Action":"pass","Package":"m/a","Test":"TestX","Elapsed":0.1}
{"Action":"run","Package":"m/a","Test":"TestY"}
{"Action":"output","Package":"m/a","Test":"TestY","Output":"=== RUN   TestY\n"}
{"Action":"output","Package":"m/a","Test":"TestY","Output":"    a_test.go:3: needs a printer\n"}
{"Action":"output","Package":"m/a","Test":"TestY","Output":"--- SKIP: TestY (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestY","Elapsed":0}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t61.000s\n"}
{"Action":"pass","Package":"m/a","Elapsed":61}
`

const cached = `{"Action":"run","Package":"m/c","Test":"TestC"}
{"Action":"pass","Package":"m/c","Test":"TestC","Elapsed":0}
{"Action":"output","Package":"m/c","Output":"ok  \tm/c\t(cached)\n"}
{"Action":"pass","Package":"m/c","Elapsed":70}
`

const failing = `{"Action":"run","Package":"m/f","Test":"TestF"}
{"Action":"output","Package":"m/f","Test":"TestF","Output":"=== RUN   TestF\n"}
{"Action":"output","Package":"m/f","Test":"TestF","Output":"    f_test.go:9: got 1, want 2\n"}
{"Action":"fail","Package":"m/f","Test":"TestF","Elapsed":0}
{"Action":"run","Package":"m/f","Test":"TestG"}
{"Action":"output","Package":"m/f","Test":"TestG","Output":"panic: oh\n"}
{"Action":"output","Package":"m/f","Output":"FAIL\tm/f\t0.1s\n"}
{"Action":"fail","Package":"m/f","Elapsed":0.1}
`

const unbuilt = `{"ImportPath":"m/b [m/b.test]","Action":"build-output","Output":"b.go:3:1: undefined: x\n"}
{"ImportPath":"m/b [m/b.test]","Action":"build-fail"}
{"Action":"start","Package":"m/b"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b [build failed]\n"}
{"Action":"fail","Package":"m/b","Elapsed":0,"FailedBuild":"m/b [m/b.test]"}
`

func TestReadEvents(t *testing.T) {
	tests := []struct {
		name, in  string
		want      counts
		print     []string // each is a part of what is printed
		wantError string   // of judge
	}{
		{
			"slow and skipped", passing,
			counts{passed: 2, skipped: 1},
			[]string{"ok      61.0 s  m/a\n", "skipped: TestY: a_test.go:3: needs a printer\n"},
			"over 45s: m/a",
		},
		{"cached is never slow", cached, counts{passed: 1}, []string{"ok      cached  m/c\n"}, ""},
		{
			"failed and never ended", failing,
			counts{failed: 2},
			[]string{"FAIL     0.1 s  m/f\n", "got 1, want 2\n", "did not end: TestG\n", "panic: oh\n"},
			"2 failed",
		},
		{
			"does not build", unbuilt,
			counts{failed: 1},
			[]string{"FAIL     0.0 s  m/b\n", "undefined: x\n"},
			"1 failed",
		},
		{"nothing", "", counts{}, nil, "got no passing test, want at least one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const limit = 45 * time.Second
			var out bytes.Buffer
			var slow []string
			s, err := readEvents(strings.NewReader(tt.in), func(s *suite, p *report) {
				p.print(&out, s.builds)
				if p.slow(limit) {
					slow = append(slow, p.name)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.count(); got != tt.want {
				t.Errorf("count = %v, want %v", got, tt.want)
			}
			for _, part := range tt.print {
				if !strings.Contains(out.String(), part) {
					t.Errorf("printed %q, want %q in it", out.String(), part)
				}
			}
			if strings.Contains(out.String(), "=== RUN") {
				t.Errorf("printed %q, want no line that says a test began", out.String())
			}
			if got := text(judge(s.count(), slow, limit)); got != tt.wantError {
				t.Errorf("judge = %q, want %q", got, tt.wantError)
			}
		})
	}
}

func TestReadEventsRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"not json\n":                          `go test -json: got "not json\n", want an event`,
		`{"Action":"start","Package":"m/a"}`:  "go test -json: m/a did not end",
		`{"Action":"start","Package":"m/a"}x`: `go test -json: got "{\"Action\":\"start\",\"Package\":\"m/a\"}x", want an event`,
	} {
		_, err := readEvents(strings.NewReader(in), nil)
		if text(err) != want {
			t.Errorf("readEvents(%q): got %q, want %q", in, text(err), want)
		}
	}
}

// The whole command, on a module made for it: real go test output has the
// events that the tables above assume.
func TestTestCommand(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("a_test.go", `package a

import "testing"

func TestA(t *testing.T) {
	t.Run("T1 plain", func(t *testing.T) {})
	t.Run("later", func(t *testing.T) { t.Skip("needs a printer") })
}
`)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"test", "-C", dir}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, part := range []string{"skipped: TestA/later: a_test.go:7: needs a printer", "2 passed, 0 failed, 1 skipped\n"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("printed %q, want %q in it", out.String(), part)
		}
	}

	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("docs/spec.md", "## T. The tool\n\n- T1 A tool.\n- T2 Typed.\n")
	for rules, want := range map[string]string{
		"T1\n":     "",
		"T1\nT2\n": "T2: listed as built, but no passing subtest names it",
	} {
		write("docs/rules.txt", rules)
		if err := run(t.Context(), []string{"test", "-C", dir, "-rules"}, io.Discard); text(err) != want {
			t.Errorf("test -rules with %q built: got %q, want %q", rules, text(err), want)
		}
	}

	write("b_test.go", "package a\n\nvar x int = y\n")
	out.Reset()
	err := run(t.Context(), []string{"test", "-C", dir, "--", "-short"}, &out)
	if text(err) != "1 failed" || !strings.Contains(out.String(), "undefined: y") {
		t.Errorf("a package that does not build: got %q and %q, want 1 failed and the compiler's text", text(err), &out)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"tests"}, {"rules", "T1"}, {"fuzz", "-time", "soon"}, {"test", "-q"}} {
		if err := run(context.Background(), args, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("run(%q): got %v, want wrong usage", args, err)
		}
	}
}

// text is the error's text, or nothing.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFailuresAreNamedAtTheEnd(t *testing.T) {
	s, err := readEvents(strings.NewReader(failing+unbuilt+passing), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		9: "failed: m/f TestF, did not end: m/f TestG, failed: m/b",
		1: "failed: m/f TestF, and 2 more",
	} {
		if got := strings.Join(s.failures(n), ", "); got != want {
			t.Errorf("failures(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestLongOutputIsCut(t *testing.T) {
	var out strings.Builder
	writeLines(&out, strings.SplitAfter(strings.Repeat("goroutine\n", mostLines+7), "\n"))
	if got, want := strings.Count(out.String(), "goroutine"), mostLines; got != want {
		t.Errorf("printed %d lines, want %d", got, want)
	}
	if want := "… and 8 more lines\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed %q at the end, want %q", out.String()[out.Len()-40:], want)
	}
}

func TestPackageLimit(t *testing.T) {
	for ci, want := range map[string]time.Duration{"": 45 * time.Second, "true": 120 * time.Second} {
		if got := packageLimit(ci); got != want {
			t.Errorf("packageLimit(%q) = %s, want %s", ci, got, want)
		}
	}
}
