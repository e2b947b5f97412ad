package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/undo"
)

// In mode edit a model works on files, and nobody is asked, because what it does
// can be undone.
func TestFilesModeEdit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		set       func(*builtin.Files)
		questions int
	}{
		{"P10 edit: what can be undone is not asked for", func(*builtin.Files) {}, 0},
		{"P10 edit: what cannot be undone is asked for", func(f *builtin.Files) { f.Undo = nil }, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newFiles(t, map[string]string{"a": "0\n"}, tt.set)
			asked := 0
			rt := &ferrule.Runtime{Mode: policy.ModeEdit, Workspace: b.work, Answer: func(context.Context, policy.Question) (policy.Answer, error) {
				asked++
				return policy.Answer{Allow: true, By: "test"}, nil
			}}
			var tools []*tool.Tool
			for _, tl := range b.tools {
				tools = append(tools, tl)
			}
			if err := rt.Set(tool.Source{Name: "files", Trust: tool.BuiltIn}, tools...); err != nil {
				t.Fatal(err)
			}
			session := rt.Session(tool.Caller{Attended: true})
			for i := range 20 {
				input := fmt.Sprintf(`{"path":"a","edits":[{"old":"%d\n","new":"%d\n"}]}`, i, i+1)
				if r := session.Call(t.Context(), "fs_edit", input); r.Err != nil {
					t.Fatal(r)
				}
			}
			if asked != tt.questions || b.content("a") != "20\n" {
				t.Errorf("got %d questions and %q, want %d and 20", asked, b.content("a"), tt.questions)
			}
		})
	}
}

// Writes to different files run side by side, and a read behind a write of the
// same file sees it.
func TestFilesOrder(t *testing.T) {
	t.Parallel()
	t.Run("D2 files: reads see the writes before them", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, nil)
		rt := &ferrule.Runtime{Mode: policy.ModeEdit, Workspace: b.work}
		var tools []*tool.Tool
		for _, tl := range b.tools {
			tools = append(tools, tl)
		}
		if err := rt.Set(tool.Source{Name: "files", Trust: tool.BuiltIn}, tools...); err != nil {
			t.Fatal(err)
		}
		var calls []tool.Call
		for i := range 12 {
			calls = append(
				calls,
				tool.Call{Name: "fs_write", Input: json.RawMessage(fmt.Sprintf(`{"path":"d/%d","content":"%d","parents":true}`, i, i))},
				tool.Call{Name: "fs_read", Input: json.RawMessage(fmt.Sprintf(`{"path":"d/%d"}`, i))},
			)
		}
		calls = append(calls, tool.Call{Name: "fs_glob", Input: json.RawMessage(`{"pattern":"d/*"}`)})
		results := rt.Session(tool.Caller{}).View(t.Context()).Do(t.Context(), calls...)
		for i := range 12 {
			if got := results[2*i+1].String(); got != fmt.Sprint(i) {
				t.Errorf("file %d: got %q", i, got)
			}
		}
		if got := results[24].String(); strings.Count(got, "d/") != 12 {
			t.Errorf("got %q, want 12 files", got)
		}
	})
	t.Run("I1 undo: copies are not shown to tools", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"a": "old"})
		dir := filepath.Join(b.work, "history")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if b.files.Undo, err = undo.Open(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		b.open()
		b.do("fs_write", `{"path":"a","content":"new"}`)
		check(t, b.do("fs_grep", `{"pattern":"."}`), "a:1:new")
		check(t, b.do("fs_list", `{}`), "a  3 bytes")
		if r := b.do("fs_read", `{"path":"history/index.jsonl"}`); r.Err == nil {
			t.Errorf("got %q, want a refusal", r)
		}
	})
}
