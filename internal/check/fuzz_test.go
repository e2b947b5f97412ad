package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": "package a\n\nfunc FuzzA(f *testing.F) {}\n\nfunc (x) FuzzMethod(f *testing.F) {}\n\nfunc FuzzOfOther(t *testing.T) {}\n",
		"b_test.go": "package a_test\n\nfunc FuzzB(f *testing.F) {}\n\nfunc Fuzzy() {}\n\nfunc TestC(t *testing.T) {}\n",
		"c_test.go": "package c\n\nfunc TestC(t *testing.T) {}\n",
		"d_test.go": "package d\n\nfunc {\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, in, want, wantError string }{
		{"two packages", "m/a\tDIR\ta_test.go\tb_test.go\nm/b\tDIR\nm/c\tDIR\tc_test.go\nm/d\tDIR\tb_test.go\n", "[{m/a DIR [FuzzA FuzzB]} {m/d DIR [FuzzB]}]", ""},
		{"none", "m/c\tDIR\tc_test.go\n", "[]", "got no fuzz target, want at least one"},
		{"not Go", "m/d\tDIR\td_test.go\n", "[]", "d_test.go:3:6: expected 'IDENT', found '{'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readPrograms(strings.NewReader(strings.ReplaceAll(tt.in, "DIR", dir)))
			s := strings.ReplaceAll(fmt.Sprint(got), dir, "DIR")
			if s != tt.want || !strings.Contains(text(err), tt.wantError) || (err == nil) != (tt.wantError == "") {
				t.Errorf("got %s, %q, want %s, %q", s, text(err), tt.want, tt.wantError)
			}
		})
	}
}

func TestClockOnly(t *testing.T) {
	tests := []struct {
		name, in string
		want     bool
	}{
		{"the clock", "fuzz: elapsed: 10s, execs: 9\n--- FAIL: FuzzA (10.02s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true},
		{"a finding", "--- FAIL: FuzzA (0.02s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:3: bad\n    Failing input written to testdata/fuzz/FuzzA/1\nFAIL\n", false},
		{"a finding about time", "--- FAIL: FuzzA (0.02s)\n    context deadline exceeded\nFAIL\n    Failing input written to testdata/fuzz/FuzzA/1\n", false},
		{"more than the clock", "--- FAIL: FuzzA (10.02s)\n    context deadline exceeded\n    a_test.go:3: bad\nFAIL\n", false},
		{"does not build", "a_test.go:3: undefined: x\nFAIL\n", false},
		{"a pass", "ok m/a 10s\n", false},
	}
	for _, tt := range tests {
		if got := clockOnly(tt.in); got != tt.want {
			t.Errorf("%s: clockOnly = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestEffort(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"new inputs", `fuzz: elapsed: 0s, gathering baseline coverage: 0/5 completed
fuzz: elapsed: 0s, gathering baseline coverage: 5/5 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 105 (35/sec), new interesting: 2 (total: 7)
fuzz: elapsed: 6s, execs: 205 (33/sec), new interesting: 2 (total: 7)
fuzz: elapsed: 6s, execs: 205 (0/sec), new interesting: 2 (total: 7)
PASS
ok  	m	6.235s
`, "200 <nil>"},
		{"too few", `fuzz: elapsed: 0s, gathering baseline coverage: 5/5 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 50 (35/sec), new interesting: 2 (total: 7)
fuzz: elapsed: 6s, execs: 104 (33/sec), new interesting: 2 (total: 7)
PASS
`, "99 tried 99 inputs beyond 5 known ones in 6s, want 100 at least"},
		{"it stands still", `fuzz: elapsed: 0s, gathering baseline coverage: 5/5 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 40000 (13333/sec), new interesting: 2 (total: 7)
fuzz: elapsed: 6s, execs: 40000 (0/sec), new interesting: 2 (total: 7)
fuzz: elapsed: 6s, execs: 40000 (0/sec), new interesting: 2 (total: 7)
PASS
`, "39995 tried nothing for the last 3s of 6s"},
		{"all the time for known inputs", `fuzz: elapsed: 0s, gathering baseline coverage: 0/200 completed
fuzz: elapsed: 3s, gathering baseline coverage: 118/200 completed
fuzz: elapsed: 6s, gathering baseline coverage: 126/200 completed
PASS
ok  	m	6.235s
`, "0 tried 0 inputs beyond 126 known ones in 6s, want 100 at least"},
		{"the time ended before the first new input", `fuzz: elapsed: 6s, gathering baseline coverage: 200/200 completed, now fuzzing with 2 workers
fuzz: elapsed: 6s, execs: 200 (66/sec), new interesting: 0 (total: 200)
PASS
`, "0 tried 0 inputs beyond 200 known ones in 6s, want 100 at least"},
		{"skipped itself", "PASS\nok  \tm\t0.1s\n", "0 tried 0 inputs beyond 0 known ones in 6s, want 100 at least"},
	} {
		tried, err := effort(tt.in, 6*time.Second)
		if got := fmt.Sprint(tried, " ", err); got != tt.want {
			t.Errorf("%s: effort = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFinding(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a finding", "--- FAIL: FuzzA (0.02s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:3: bad\n    \n    Failing input written to testdata/fuzz/FuzzA/1f\n    To re-run:\n    go test -run=FuzzA/1f\nFAIL\n", "testdata/fuzz/FuzzA/1f"},
		{"a failing seed", "failure while testing seed corpus entry: FuzzA/seed#0\n--- FAIL: FuzzA (0.01s)\n    a_test.go:3: bad\nFAIL\n", ""},
		{"does not build", "a_test.go:3: undefined: x\nFAIL\n", ""},
	} {
		if got := finding(tt.in); got != tt.want {
			t.Errorf("%s: finding = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// fuzzModule is a folder with a module m of one target.
func fuzzModule(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module m\n\ngo 1.26\n",
		"a_test.go": "package m\n\nimport \"testing\"\n\nfunc FuzzA(f *testing.F) { " + body + " }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFuzzEnds(t *testing.T) {
	t.Chdir(fuzzModule(t, `f.Cleanup(func() { for { print("") } }); f.Fuzz(func(*testing.T, int) {})`))
	p, binary := program{pkg: "m"}, filepath.Join(t.TempDir(), "m.exe")
	if text, err := p.build(t.Context(), binary); err != nil {
		t.Fatal(err, text)
	}
	_, err := p.once(t.Context(), binary, "FuzzA", time.Millisecond, 2*time.Second, t.TempDir())
	if want := "it did not end in time and was killed, after 2s"; !errors.Is(err, errEndless) || err.Error() != want {
		t.Errorf("a target that does not end: got %v, want %s", err, want)
	}
}

// A module with a target that fails, in three ways; only what a search found is
// reported without failing.
func TestFuzzReport(t *testing.T) {
	const (
		finds = `f.Add(1); f.Fuzz(func(t *testing.T, n int) { if n != 1 { t.Error("found it") } })`
		seed  = `f.Add(1); f.Fuzz(func(t *testing.T, n int) { t.Error("a bad seed") })`
	)
	for _, tt := range []struct {
		name, body string
		report     bool
		want, err  string
	}{
		{"a find is reported", finds, true, "found, not gating: keep it as a seed and mend it", ""},
		{"a find fails", finds, false, "found it", "FuzzA in m: exit status 1"},
		{"a seed fails", seed, true, "a bad seed", "FuzzA in m: exit status 1"},
		{"does not build", "x", true, "undefined: x", "m: go test -c: exit status 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(fuzzModule(t, tt.body))
			var out strings.Builder
			err := fuzz(t.Context(), &out, time.Second, tt.report)
			if !strings.HasPrefix(text(err), tt.err) || (err == nil) != (tt.err == "") {
				t.Errorf("fuzz = %q, want %q", text(err), tt.err)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("printed %q, want %q in it", out.String(), tt.want)
			}
			if tt.report && tt.err == "" && !strings.Contains(out.String(), "go test fuzz v1\nint(") {
				t.Errorf("printed %q, want the input in it", out.String())
			}
		})
	}
}
