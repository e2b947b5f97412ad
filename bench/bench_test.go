package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/sandbox"
)

func TestWorksWork(t *testing.T) {
	list, err := works(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	deciding, err := policyWorks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scrubs, err := secretWorks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	loops, err := agentWorks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range slices.Concat(list, loops, deciding, scrubs) {
		if err := w.one(); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
	}
}

func TestMissedBoundsAreNamed(t *testing.T) {
	rows := []row{
		{Name: "floor", Ratio: 1, mostAllocs: -1},
		{Name: "good", Ratio: 0.1, most: 0.1, Allocs: 2, mostAllocs: 2},
		{Name: "late", Ratio: 0.2, most: 0.1, mostAllocs: 0},
		{Name: "greedy", Ratio: 0.1, most: 0.1, Allocs: 3, mostAllocs: 2},
	}
	want := "late: ratio 0.200, want at most 0.10; greedy: 3 allocations, want at most 2"
	if got := texts(missed(rows)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	hostile := []row{
		{Name: "refuse quick", NS: 50e6, mostTime: mostRefusal},
		{Name: "refuse x", NS: 60e6, mostTime: mostRefusal, step: "compile"},
		{Name: "handle y", NS: 60e6, mostTime: mostHandling},
		{Name: "handle z", NS: 301e6, mostTime: mostHandling, step: "repair"},
	}
	want = "refuse x (compile): 60 ms, want at most 50; handle z (repair): 301 ms, want at most 300"
	if got := texts(slow(hostile)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A machine that is slow in some rounds, or slow for one of the works, changes no
// ratio.
func TestQuietRoundsCount(t *testing.T) {
	rows := []row{{times: []float64{90, 10, 400, 10}}, {times: []float64{45, 70, 5, 200}}}
	settle(rows)
	if r := rows[0]; r.Ratio != 1 || r.NS != 10 {
		t.Errorf("the floor has the ratio %v and %v ns, want 1 and 10", r.Ratio, r.NS)
	}
	if r := rows[1]; r.Ratio != 0.5 || r.NS != 5 {
		t.Errorf("half the work has the ratio %v and %v ns, want 0.5 and 5", r.Ratio, r.NS)
	}
}

func TestMeasureKeepsEveryRound(t *testing.T) {
	var sink int
	rows, err := measure([]work{{"floor", 0, -1, func() error {
		for i := range 20_000 {
			sink += i
		}
		return nil
	}}}, 3, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[0]; len(r.times) != 3 || r.Name != "floor" {
		t.Errorf("measured %+v, want three rounds of the floor", r)
	}
}

func TestAllocationsRoundUp(t *testing.T) {
	var calls int
	var kept [][]byte
	for _, tt := range []struct {
		name  string
		every int // calls to one allocation
		want  int64
	}{
		{"none", 1 << 30, 0}, {"one in ten calls", 10, 1}, {"each call", 1, 1},
	} {
		calls = 0
		count, bytes := allocations(work{one: func() error {
			if calls++; calls%tt.every == 0 {
				kept = append(kept[:0], make([]byte, 64))
			}
			return nil
		}}, 1000)
		if count != tt.want || (bytes > 0) != (tt.want > 0) {
			t.Errorf("%s: %d allocations of %d bytes, want %d", tt.name, count, bytes, tt.want)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		status int
	}{
		{[]string{"check"}, 2}, {[]string{"-check", "now"}, 2}, {[]string{"-chek"}, 2}, {[]string{"-check=maybe"}, 2}, {[]string{"-h"}, 0}, {[]string{"--help"}, 0},
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		var out, errs bytes.Buffer
		if status := run(tt.args, sandbox.Helper{}, &out, &errs); status != tt.status || out.Len() > 0 || !strings.Contains(errs.String(), "usage: go run . [-check] [-only text]") {
			t.Errorf("%q: status %d, want %d; said %q and %q", tt.args, status, tt.status, &out, &errs)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%q: wrote %v, %v", tt.args, left, err)
		}
	}
}

func TestReadmeIsUpdatedBetweenTheMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	begin, end := marks("bench")
	other, otherEnd := marks("peers")
	after := end + "\nafter\n" + other + "kept\n" + otherEnd + "\n"
	if err := os.WriteFile(path, []byte("before\n"+begin+"old\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := updateReadme(path, "bench", "| new |\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + begin + "| new |\n" + after; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := updateReadme(path, "behaviour", ""); err == nil {
		t.Error("a README without marks was written")
	}
}

func TestReadmeHasTheMarks(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bench", "peers", "behaviour"} {
		begin, end := marks(name)
		if !strings.Contains(string(text), begin) || !strings.Contains(string(text), end) {
			t.Errorf("README.md: want the marks %q and %q", begin, end)
		}
	}
}

func TestJournalledCallsAreMeasured(t *testing.T) {
	rows, err := measureJournal(t.Context(), journalSizes{tries: 2, calls: 2, rounds: 1, together: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 {
		t.Fatalf("got %d rows, want 3", len(rows))
	}
	for _, r := range rows {
		if r.Ratio <= 0 || r.most <= 0 {
			t.Errorf("%s: got the ratio %v and the bound %v, want both", r.Name, r.Ratio, r.most)
		}
	}
}

func TestGrantedCallsAreMeasured(t *testing.T) {
	rows, err := measureGrants(t.Context(), 1, 1, 2, 20)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Ratio != 1 || rows[0].most != 0 || rows[1].Ratio <= 0 || rows[1].most <= 0 {
		t.Errorf("got %+v, want the first to be compared with, and a bound for the other", rows)
	}
}

func TestJournalledFloorIsDurable(t *testing.T) {
	db, insert, err := bareInsert(t.Context(), filepath.Join(t.TempDir(), "bare.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var mode, lines string
	if err := errors.Join(insert(), insert(), db.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode),
		db.QueryRowContext(t.Context(), "SELECT (SELECT * FROM pragma_synchronous) || ' ' || count(*) FROM lines").Scan(&lines)); err != nil {
		t.Fatal(err)
	}
	if mode != "wal" || lines != "2 2" {
		t.Errorf("got %s and %q, want wal, FULL and 2 lines", mode, lines)
	}
}
