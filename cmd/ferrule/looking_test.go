package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func TestLooking(t *testing.T) {
	t.Parallel()
	t.Run("Y2 who only looks makes nothing, also where there is a state already", func(t *testing.T) {
		t.Parallel()
		s := newScript(t, txtar.Parse([]byte("-- calls.jsonl --\n{\"name\":\"think\",\"input\":{\"thought\":\"x\"}}\n")))
		state := filepath.Join(s.dir, ".ferrule")
		if err := os.Mkdir(state, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"tools", "doctor", "batch calls.jsonl --plan"} {
			var out strings.Builder
			s.ferrule(t, &out, strings.Fields(args))
			made, err := os.ReadDir(state)
			if err != nil || len(made) > 0 || out.Len() == 0 {
				t.Errorf("%s: got %v, %v, want nothing made\n%s", args, made, err, out.String())
			}
		}
	})
	t.Run("J2 no tool sees who runs calls, wherever the store is", func(t *testing.T) {
		t.Parallel()
		s := newScript(t, txtar.Parse([]byte("-- ferrule.yaml --\nstore: {path: data/x.db}\ntools: {shell: false}\n-- data/other --\n")))
		var out strings.Builder
		for _, call := range []string{`fs_write {"path":"a","content":"b"}`, `fs_list {"path":"data"}`, `fs_glob {"pattern":"data/**"}`} {
			name, input, _ := strings.Cut(call, " ")
			s.ferrule(t, &out, []string{"call", name, input, "--mode", "auto"})
		}
		if text := out.String(); strings.Contains(text, "x.db") || strings.Count(text, "other") != 2 {
			t.Errorf("got\n%s\nwant nothing of the store", text)
		}
	})
}
