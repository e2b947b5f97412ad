package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/audit"
)

// shellTrap makes a repository in which everything that git can be told to run
// is told to run a program that leaves a mark.
func shellTrap(t *testing.T, s *shellScene) {
	t.Helper()
	bad := func(name string) string {
		return s.write("bad/"+name, "#!/bin/sh\ntouch '"+s.dir+"/ran-"+name+"' \"${TMPDIR:-/tmp}/ran-"+name+"\" 2>/dev/null\necho \"RAN "+name+"\"\ncat \"$1\" 2>/dev/null\nexit 0\n", 0o755)
	}
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir = s.dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "a")
	git("config", "user.email", "a@example.com")
	s.write("a.txt", "one\n", 0o644)
	s.write("b.bin", "one\n", 0o644)
	s.write("c.clean", "one\n", 0o644)
	s.write(".gitignore", "bad/\nran-*\n", 0o644)
	git("add", ".")
	git("commit", "-qm", "first")
	s.write(".gitattributes", "*.txt diff=text\n*.bin diff=ext\n*.clean filter=clean\n", 0o644)
	s.write("a.txt", "two\n", 0o644)
	git("commit", "-qam", "second")
	// A submodule, which git would look into by its own configuration, a merge
	// with a conflict, and a stash.
	git("init", "-q", "sub")
	s.write("sub/y", "one\n", 0o644)
	git("-C", "sub", "add", "y")
	git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "y")
	git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./sub", "sub")
	git("commit", "-qm", "sub")
	git("-C", "sub", "config", "diff.external", bad("sub"))
	git("config", "submodule.sub.ignore", "none")
	git("config", "diff.submodule", "diff")
	git("config", "status.submoduleSummary", "true")
	s.write("sub/y", "two\n", 0o644)
	s.write("d.merge", "one\n", 0o644)
	s.write(".gitattributes", "*.txt diff=text\n*.bin diff=ext\n*.clean filter=clean\n*.merge merge=driver\n", 0o644)
	git("add", ".gitattributes", "d.merge")
	git("commit", "-qm", "third")
	git("checkout", "-qb", "other")
	s.write("d.merge", "two\n", 0o644)
	git("commit", "-qam", "two")
	git("checkout", "-q", "main")
	s.write("d.merge", "three\n", 0o644)
	git("commit", "-qam", "three")
	git("merge", "-q", "-X", "ours", "-m", "merged", "other")
	s.write("a.txt", "kept\n", 0o644)
	git("stash", "-q")
	s.write("a.txt", "three\n", 0o644)
	s.write("b.bin", "three\n", 0o644)
	for key, name := range map[string]string{
		"core.fsmonitor": "fsmonitor", "diff.text.textconv": "textconv", "diff.ext.command": "driver", "diff.external": "external",
		"core.pager": "pager", "pager.log": "pagerlog", "gpg.program": "gpg", "core.editor": "editor", "core.sshCommand": "ssh", "credential.helper": "credential",
		"core.alternateRefsCommand": "alternate", "uploadpack.packObjectsHook": "pack", "merge.driver.driver": "merge",
	} {
		git("config", key, bad(name))
	}
	git("config", "log.showSignature", "true")
	git("config", "log.diffMerges", "remerge")
	git("config", "alias.status", "!"+bad("alias"))
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-checkout"} {
		if err := os.Rename(bad("hook-"+hook), filepath.Join(s.dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestShellGit(t *testing.T) {
	t.Parallel()
	s := shellAt(t, nil)
	shellTrap(t, s)
	t.Run("I2 reading a repository runs nothing that it brings", func(t *testing.T) {
		for _, line := range []string{
			"git status", "git status --short", "git diff", "git diff HEAD", "git diff HEAD~1 -- a.txt b.bin", "git log -p", "git log --stat -p -2", "git show",
			"git show HEAD:a.txt", "git blame a.txt", "git log --oneline | head -1", "git -C . diff", "git --no-pager diff",
			"git diff --stat; git status", "(git diff)", "x=$(git diff); echo \"$x\"", "git diff-files -p", "git ls-files", "git branch", "git rev-parse HEAD", "git describe --always",
			"git whatchanged -p", "git shortlog HEAD", "git stash list", "git stash list -p", "git stash show -p", "git stash show", "git log -p -m", "git show -m HEAD", "git reflog show -p", "git reflog show HEAD", "git diff main~3", "git reflog -p", "git grep one", "git for-each-ref", "git cat-file -p HEAD", "git ls-tree HEAD",
		} {
			res := s.sh(line)
			if !strings.Contains(s.said(audit.Isolated), "without the right to write") {
				t.Errorf("%s is not judged to read only", line)
			}
			if strings.Contains(res.String(), "RAN ") || strings.Contains(s.sh("ls $TMPDIR").String(), "ran-") {
				t.Errorf("%s ran something:\n%s", line, res)
				s.sh("rm -f $TMPDIR/ran-*")
			}
			if res.Err != nil {
				t.Errorf("%s: %s", line, res)
			}
			left, err := filepath.Glob(filepath.Join(s.dir, "ran-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("%s left %v (%v)", line, left, err)
			}
		}
	})
	for _, line := range []string{"git status", "git diff", "git log -p", "git show", "git blame a.txt"} {
		t.Run("I2 judged to read only: "+line, func(t *testing.T) {
			s.sh(line)
			if !strings.Contains(s.said(audit.Isolated), "without the right to write") {
				t.Errorf("%s runs with the right to write", line)
			}
		})
	}
	t.Run("I2 the trap works", func(t *testing.T) {
		c := exec.Command("git", "-c", "core.pager=cat", "diff")
		c.Dir = s.dir
		if out, _ := c.CombinedOutput(); !strings.Contains(string(out), "RAN ") {
			t.Errorf("git diff ran nothing: %s", out)
		}
		left, _ := filepath.Glob(filepath.Join(s.dir, "ran-*"))
		for _, f := range left {
			_ = os.Remove(f)
		}
	})
	t.Run("I2 where git is not run by its plain name nothing can be switched off", func(t *testing.T) {
		for _, line := range []string{
			"command git diff", "env git diff", "/usr/bin/git diff", "echo | xargs git diff", "timeout 5 git diff", "find . -maxdepth 0 -exec git diff ';'",
			strings.Repeat(":;", 200) + "/usr/bin/git diff a.txt", "git log -1;" + strings.Repeat(":;", 200) + "command git diff b.bin",
		} {
			s.sh(line)
			if strings.Contains(s.said(audit.Isolated), "without the right to write") {
				t.Errorf("%s is judged to read only", line)
			}
		}
	})
	t.Run("N2 a line that is judged to read only cannot write, whatever it runs", func(t *testing.T) {
		// No setting switches all filters off: git status runs this one.
		s.write("bad/clean", "#!/bin/sh\ntouch ran-clean '"+s.dir+"/ran-clean' 2>/dev/null\ncat\n", 0o755)
		c := exec.Command("git", "config", "filter.clean.clean", s.dir+"/bad/clean")
		c.Dir = s.dir
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		s.write("c.clean", "two\n", 0o644)
		s.sh("git status")
		if s.there("ran-clean") {
			t.Error("git status wrote into the workspace")
		}
		s.sh("git add c.clean") // which may write
		if !s.there("ran-clean") {
			t.Error("the filter did not run at all: nothing is shown")
		}
	})
}
