package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadSummary(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"all scored", "✓ early: 9 passed, 0 failed\n=== SUMMARY ===\n✓ ping: 1 passed, 0 failed\n✗ list: 2 passed, 3 failed\n\nTotal: 3 passed, 3 failed\n", "3 3 [list] <nil>"},
		{"of a client", "=== SUITE SUMMARY ===\n✓ auth/x: 14 passed, 0 failed\n", "14 0 [] <nil>"},
		{"not all scored", "=== SUMMARY ===\n✓ ping: 1 passed, 0 failed\n✗ tasks: 1 passed, 8 failed\n\nNot scored for X: 1 scenario(s) run, 1 failing.\n  ✗ tasks (extension)\n", "1 0 [] <nil>"},
		{"failed without a check", "=== SUMMARY ===\n✗ ping: 0 passed, 0 failed\n", "0 1 [ping] <nil>"},
		{"none", "Error: fetch failed\n", "0 0 [] got no summary, want one: Error: fetch failed\n"},
	} {
		v, err := readSummary([]byte(tt.in))
		if got := fmt.Sprint(v.Passed, v.Failed, v.scenes, " ", err); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestReadScenario(t *testing.T) {
	for in, want := range map[string]string{
		"Passed: 2/3, 1 failed, 0 warnings\n\n❌ OVERALL: FAILED\n":                                          "2 1 [x] true",
		"Passed: 3/3, 0 failed, 0 warnings\n\n✅ OVERALL: PASSED\n":                                          "3 0 [] true",
		"Passed: 3/3, 0 failed, 0 warnings\n\n⚠️  CLIENT EXITED WITH ERROR (code 1)\n\n❌ OVERALL: FAILED\n": "3 1 [x] true",
	} {
		v, ok := readScenario([]byte(in), []string{"client", "--scenario", "x"})
		if got := fmt.Sprint(v.Passed, v.Failed, v.scenes, ok); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if _, ok := readScenario([]byte("=== SUMMARY ==="), []string{"--suite", "all"}); ok {
		t.Error("a run of a whole suite was taken for one scenario")
	}
}

func TestFailuresAreNamed(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"server-ping-2026-01-01/checks.json": `[{"id":"a","status":"FAILURE","errorMessage":"no"},{"id":"b","status":"SUCCESS"}]`,
		"server-list-2026-01-01/checks.json": `[{"id":"c","status":"FAILURE"}]`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := failures(dir, []string{"ping"})
	if want := "[ping: a: no]"; fmt.Sprint(got) != want || err != nil {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name   string
		v      verdict
		missed []string
		want   summary
	}{
		{"good", verdict{Passed: 3}, nil, summary{Passed: 1}},
		{"too few", verdict{Passed: 2}, nil, summary{Failed: 1}},
		{"one fails", verdict{Passed: 3, Failed: 1, scenes: []string{"x"}}, nil, summary{Failed: 1}},
		{"a known one fails", verdict{Passed: 3, Failed: 1, scenes: []string{"x"}}, []string{"x"}, summary{Passed: 1, Missed: 1}},
		{"a known one holds", verdict{Passed: 3}, []string{"x"}, summary{Passed: 1}},
	} {
		var out bytes.Buffer
		s := &score{out: &out}
		tt.v.judge(s, "check", 3, tt.missed, time.Second)
		if got := (summary{Passed: s.passed, Failed: s.failed, Missed: s.missed}); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestComparable(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"at 11:12:13"}]}`
	for _, tt := range []struct {
		name, tool, other string
		same              bool
	}{
		{"another time", "echo", `{"content":[{"type":"text","text":"at 1:02:03 PM"}]}`, true},
		{"in another order, with who answered", "echo", `{"_meta":{"io.modelcontextprotocol/serverInfo":{}},"content":[{"text":"at 11:12:13","type":"text"}]}`, true},
		{"another text", "echo", `{"content":[{"type":"text","text":"At 11:12:13"}]}`, false},
		{"an error", "echo", `{"isError":true,"content":[{"type":"text","text":"at 11:12:13"}]}`, false},
		{"more of it", "echo", `{"content":[{"type":"text","text":"at 11:12:13"}],"structuredContent":{}}`, false},
		{"other meta", "echo", `{"_meta":{"a":1},"content":[{"type":"text","text":"at 11:12:13"}]}`, false},
		{"only that it answers", "get-env", `{"content":[]}`, true},
		{"that it answers with an error", "get-env", `{"isError":true,"content":[]}`, false},
	} {
		a, b := outcome{Name: tt.tool, Result: json.RawMessage(result)}, outcome{Name: tt.tool, Result: json.RawMessage(tt.other)}
		if got := a.comparable() == b.comparable(); got != tt.same {
			t.Errorf("%s: the same = %v, want %v: %s, %s", tt.name, got, tt.same, a.comparable(), b.comparable())
		}
	}
}

func TestChoose(t *testing.T) {
	all, install, err := choose(nil)
	if len(all) != len(parts()) || install || err != nil {
		t.Errorf("without a name: got %d parts, %v, %v, want all", len(all), install, err)
	}
	if _, _, err := choose([]string{"nothing"}); err == nil || !strings.Contains(err.Error(), `got "nothing", want install or some of conformance, `) {
		t.Errorf("a part that is not there: got %v", err)
	}
}
