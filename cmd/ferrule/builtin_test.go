package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestLacking(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		want string // in the text; "": it is the configuration's fault
	}{
		{"N1 without bash there is no shell, and all the rest", fmt.Errorf("shell: bash: %w", &exec.Error{Name: "bash", Err: exec.ErrNotFound}), "bash, which is not on PATH"},
		{"N1 without a level of isolation", &sandbox.Unavailable{Level: sandbox.Container, Why: "no engine"}, "no engine"},
		{"N1 what else is wrong is an error", errors.New("workspace: got no folder"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := lacking(tt.err); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
	t.Run("N1 what is missing for one reason is told once", func(t *testing.T) {
		t.Parallel()
		got := together([]absent{{"shell", "no engine"}, {"process_list", "no engine"}, {"fetch", "false"}})
		if want := []absent{{"shell, process_list", "no engine"}, {"fetch", "false"}}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestNeededTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		names        []string
		files, shell bool
	}{
		{"N1 all tools", nil, true, true},
		{"N1 tools of two kinds", []string{"fs_read", "process_list"}, true, true},
		{"N1 who calls others does not wait for what isolates commands", []string{"fs_read", "think"}, true, false},
		{"N1 nor who calls tools that are not of the program", []string{}, false, false},
		{"N1 a name that is none is compared with all", []string{"fs_read", "shel"}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := &program{dir: dir, helper: helper}
			list, missing, err := p.tools(t.Context(), &config.Config{Workspace: dir}, t.TempDir(), tt.names)
			if err != nil {
				t.Fatal(err)
			}
			has := func(name string) bool {
				return slices.ContainsFunc(list, func(t *tool.Tool) bool { return t.Name == name }) ||
					slices.ContainsFunc(missing, func(a absent) bool { return a.Name == name }) // this machine cannot have it
			}
			if has("fs_read") != tt.files || has("shell") != tt.shell {
				t.Errorf("got files: %t, shell: %t, want %t, %t", has("fs_read"), has("shell"), tt.files, tt.shell)
			}
		})
	}
}

func TestDetailOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  tool.Error
		want string
	}{
		{"O1 what broke", tool.Error{Kind: tool.Failed, Text: "It failed.", Detail: "open /a: no"}, "open /a: no"},
		{"O1 not the same again", tool.Error{Kind: tool.InvalidValue, Text: "ValidationError: no such path", Detail: "no such path"}, ""},
		{"O1 nor with a path in front", tool.Error{Kind: tool.Failed, Text: "a.go has 4 lines.", Detail: "/work/a.go: a.go has 4 lines."}, ""},
		{"O1 but with who says so", tool.Error{Kind: tool.HookBlocked, Text: "Not here.", Detail: "hook \"no\": Not here."}, "hook \"no\": Not here."},
		{"O1 not how a command that failed was isolated", tool.Error{Kind: tool.Failed, Text: "[exit status 1]", Detail: "isolated: process"}, ""},
		{"O1 but where the sandbox is what failed", tool.Error{Kind: tool.Sandbox, Text: "[stopped]", Detail: "isolated: process"}, "isolated: process"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := detailOf(&tt.err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
