package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWorksWork(t *testing.T) {
	list, err := works()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
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
	if got := strings.Join(missed(rows), "; "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := slow([]row{{Name: "quick", NS: 1e6}, {Name: "refuse x", NS: 6e7}}); len(got) != 1 || got[0] != "refuse x: 60 ms, want at most 50" {
		t.Errorf("got %q", got)
	}
}

func TestReadmeIsUpdatedBetweenTheMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(path, []byte("before\n"+begin+"old"+end+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := updateReadme(path, "| new |\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(got); !strings.HasPrefix(s, "before\n"+begin) || !strings.HasSuffix(s, "| new |\n"+end+"\nafter\n") || strings.Contains(s, "old") {
		t.Errorf("got %q", s)
	}
	if err := os.WriteFile(path, []byte("no marks"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := updateReadme(path, ""); err == nil {
		t.Error("a README without marks was written")
	}
}
