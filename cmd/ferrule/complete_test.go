package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run("Y4 "+shell+" can read its script", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script, stderr, code := try(t.Context(), dir, "completion", shell)
			if code != 0 {
				t.Fatalf("got %d, %s", code, stderr)
			}
			write(t, filepath.Join(dir, "script"), script)
			if out, err := exec.CommandContext(t.Context(), needs(t, shell), "-n", filepath.Join(dir, "script")).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("got %v, %s", err, out)
			}
		})
	}
	t.Run("Y4 bash completes by it", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		script, _, _ := try(t.Context(), dir, "completion", "bash")
		write(t, filepath.Join(dir, "script"), script)
		// What bash-completion has, without it: the words of the line.
		write(t, filepath.Join(dir, "run"), `
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
_init_completion() { _get_comp_words_by_ref; }
__ltrim_colon_completions() { :; }
compopt() { :; } # which is for a shell that completes
ferrule() { "$PROGRAM" "$@"; }
source ./script
COMP_WORDS=(ferrule approvals al) COMP_CWORD=2 COMP_LINE="ferrule approvals al" COMP_POINT=20 COMP_TYPE=9
__start_ferrule
printf '%s\n' "${COMPREPLY[@]}"
`)
		cmd := exec.CommandContext(t.Context(), needs(t, "bash"), "run")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), beFerrule+"=1", "PROGRAM="+testBinary(t), "GORACE=atexit_sleep_ms=0")
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "allow" {
			t.Errorf("got %v, %q, want allow", err, out)
		}
	})

	dir := t.TempDir()
	mark := filepath.Join(dir, "started")
	write(t, filepath.Join(dir, "ferrule.yaml"), "servers: {files: {command: touch, args: ["+filepath.ToSlash(mark)+"]}}\npolicy: {always: [{rule: fs_read}]}\n")
	ask(t, dir, policy.Question{ID: "q1", Digest: "d", Tool: "x", Input: "{}"})
	for _, tt := range []struct {
		line string
		want string // among the lines
		not  string
	}{
		{"approvals allow ", "q1\tx", ""},
		{"trust ", "files\ttouch " + filepath.ToSlash(mark), ""},
		{"pins show ", "files\ttouch " + filepath.ToSlash(mark), ""},
		{"servers remove ", "files\ttouch " + filepath.ToSlash(mark), ""},
		{"call ", "fs_read", "touch"},
		{"call fs_read ", ":4", "fs_read"},
		{"policy explain --tool ", "shell", ""},
		{"audit list --kind ", "decided", ""},
		{"audit list --decision ", "deny", ""},
		{"call --mode ", "read\tonly calls that read", ""},
		{"up --auth ", "none\tof a loopback address only", ""},
		{"up --tools ", "deferred\ttool_search finds them", ""},
		{"up ", ":16", "fs_read"},
		{"run --model ", "anthropic:", ""},
		{"--home ", ":16", ""},
		{"--config ", "yaml", ""},
		{"version ", ":4", "version"},
		{"connect ", "claude-code", ""},
	} {
		t.Run("Y4 "+tt.line, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"__complete"}, strings.Split(tt.line, " ")...)
			stdout, stderr, code := try(t.Context(), dir, args...)
			lines := strings.Split(stdout, "\n")
			has := func(want string) bool {
				for _, line := range lines {
					if word, _, _ := strings.Cut(line, "\t"); line == want || word == want {
						return true
					}
				}
				return false
			}
			if code != 0 || !has(tt.want) || tt.not != "" && has(tt.not) {
				t.Errorf("got %d, %q, %s, want %q", code, lines, stderr, tt.want)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(mark); err == nil {
			t.Error("M1 a server was started to complete a word")
		}
	})
	t.Run("Y4 a rule is completed by its id", func(t *testing.T) {
		t.Parallel()
		stdout, _, code := try(t.Context(), dir, "__complete", "rules", "revoke", "")
		if id, rule, ok := strings.Cut(strings.SplitN(stdout, "\n", 2)[0], "\t"); code != 0 || !ok || rule != "fs_read" || len(id) < 6 {
			t.Errorf("got %d, %q, want a rule", code, stdout)
		}
	})
}
