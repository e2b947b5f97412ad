//go:build unix

package shell_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/shell"
)

// snapshot is every file below a directory with its mode, time and content.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			if content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		files[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// changed are the files in which two snapshots differ.
func changed(before, after map[string]string) []string {
	var list []string
	for path, was := range before {
		if now, ok := after[path]; !ok {
			list = append(list, "gone: "+path)
		} else if now != was {
			list = append(list, "changed: "+path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			list = append(list, "new: "+path)
		}
	}
	return list
}

// bash runs a line in a directory of its own, with nothing of this process's
// environment, for at most ten seconds.
func bash(t *testing.T, root, line string) (status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = filepath.Join(root, "work")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "TMPDIR=" + filepath.Join(root, "tmp"), "LC_ALL=C", "TERM=dumb"}, shell.GitEnvironment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("bash did not start")
	}
	return cmd.ProcessState.ExitCode()
}

// world is a directory with files of many kinds.
func world(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"work", "home", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const made = `
mkdir -p sub/deep && seq 1 30 > a.txt && printf 'b 2\na 1\nb 2\n' > b.txt && printf 'x,y\n1,2\n' > t.csv && printf '{"a":[1,{"b":2}]}' > d.json && printf 'a: 1\n' > d.yaml
printf '<a><b>1</b></a>' > d.xml && cp a.txt sub/c.txt && cp b.txt sub/deep/d.log && ln -s a.txt link && ln -s nowhere broken && printf 'x' > ./-o && printf 'y' > ./-delete && printf '\0\1\2' > bin
gzip -c a.txt > a.gz; bzip2 -c a.txt > a.bz2; xz -c a.txt > a.xz; tar cf a.tar a.txt sub; tar czf a.tgz sub; zip -q a.zip a.txt b.txt; md5sum a.txt > sums
git init -q . && git add a.txt b.txt sub && git -c user.name=n -c user.email=e@x commit -qm first && git tag v1 && git branch other && echo more >> b.txt && git -c user.name=n -c user.email=e@x stash -q && echo again >> b.txt
touch -d '2020-01-01' *.txt sub/c.txt; true`
	if status := bash(t, root, made); status != 0 {
		t.Fatalf("making the world: status %d", status)
	}
	return root
}

func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	if testing.Short() {
		t.Skip("runs hundreds of commands")
	}
	root := world(t)
	before := snapshot(t, root)
	ran, lacking, there := 0, make(map[string]int), make(map[string]bool)
	for _, line := range readingLines() {
		j := shell.Judge(line)
		if !j.ReadOnly {
			t.Errorf("I2 Judge(%q): not ReadOnly: %s", line, j.Why)
			continue
		}
		if !j.Local { // would ask a server
			continue
		}
		name := ":"
		if len(j.Commands) > 0 {
			name = j.Commands[0][0]
		}
		if _, ok := there[name]; !ok {
			there[name] = bash(t, root, "type -t -- "+name+" >/dev/null") == 0
		}
		if !there[name] || bash(t, root, line) == 127 {
			lacking[name]++
			continue
		}
		ran++
		after := snapshot(t, root)
		if list := changed(before, after); len(list) > 0 {
			t.Errorf("I2 %q is judged ReadOnly, and changed: %s", line, strings.Join(list, ", "))
			before = after
		}
	}
	t.Logf("ran %d of %d lines; not installed: %v", ran, len(readingLines()), lacking)
	if ran < 300 {
		t.Errorf("I2 ran %d lines, want at least 300", ran)
	}
}

// TestSnapshotSees shows that the test above can fail.
func TestSnapshotSees(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	root := world(t)
	for _, line := range []string{"echo x >> a.txt", "touch a.txt", "rm a.txt", "touch new", "chmod 600 b.txt", "mkdir -p ~/.cache", "sort -o b.txt b.txt"} {
		before := snapshot(t, root)
		bash(t, root, line)
		if len(changed(before, snapshot(t, root))) == 0 {
			t.Errorf("I2 %q: no change seen", line)
		}
	}
}
