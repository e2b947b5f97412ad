package durable_test

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// A store on a disk outlives a program: what it wrote must be found by the next
// version.
func TestHandleStays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		owner string
		note  durable.Note
		parts []string
		want  string
	}{
		{"", durable.Note{}, nil, "r_115d5562fc90838f882d50a63708a994"},
		{"ada", durable.Note{Source: "github", Tool: "list", Trust: tool.MCP, Sensitivity: tool.Public}, []string{"a", "bc"}, "r_536d8083f5c0bf52e64759f14775941a"},
	}
	for _, tt := range tests {
		if got := durable.Handle(tt.owner, tt.note, tt.parts...); got != tt.want {
			t.Errorf("Handle(%q, %+v, %q) = %q, want %q", tt.owner, tt.note, tt.parts, got, tt.want)
		}
	}
}

func TestHandleOfParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		owner, text := rapid.String().Draw(t, "owner"), rapid.StringN(0, 9000, -1).Draw(t, "text")
		n := durable.Note{Source: rapid.String().Draw(t, "source"), Tool: rapid.String().Draw(t, "tool")}
		whole := durable.Handle(owner, n, text)
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		if got := durable.Handle(owner, n, text[:cut], "", text[cut:]); got != whole {
			t.Errorf("cut at %d: got %q, want %q", cut, got, whole)
		}
		if got := durable.Handle(owner, n, text, "x"); got == whole {
			t.Error("another text: got the same handle")
		}
		// What stands side by side may not run into each other.
		if len(text) > 0 {
			if got := durable.Handle(owner+text[:1], n, text[1:]); got == whole {
				t.Error("another owner: got the same handle")
			}
			n.Tool += text[:1]
			if got := durable.Handle(owner, n, text[1:]); got == whole {
				t.Error("another tool: got the same handle")
			}
		}
	})
}

// allocated is how many bytes a function allocates. Tests that use it are not
// parallel.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestLongTextsAreNotCopied(t *testing.T) {
	text := strings.Repeat("0123456789", 1<<20)
	dir := openDir(t, t.TempDir())
	memory := new(durable.Memory)
	put := func(b durable.Blobs, parts ...string) func() {
		return func() {
			if _, err := b.Put(t.Context(), "ada", durable.Note{}, parts...); err != nil {
				t.Error(err)
			}
		}
	}
	for _, tt := range []struct {
		name string
		do   func()
	}{
		{"O8 handle of 10 MB", func() { durable.Handle("ada", durable.Note{}, text) }},
		{"O8 10 MB into memory", put(memory, text)},
		{"O8 10 MB into a file", put(dir, text)},
		{"O8 10 MB into a file, in parts", put(dir, text[:1], text[1:5<<20], text[5<<20:5<<20+100], text[5<<20+100:], "!")},
		{"O8 10 MB into a file, again", put(dir, text)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const most = 48 << 10
			got := allocated(tt.do)
			t.Logf("%d bytes", got)
			if got > most {
				t.Errorf("allocated %d bytes, want at most %d", got, most)
			}
		})
	}
}
