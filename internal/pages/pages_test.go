package pages_test

import (
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/internal/pages"
	"github.com/ferrule-dev/ferrule/policy/cedar"
)

// root is the folder of go.mod.
const root = "../.."

// page is one file of README.md and docs.
type page struct {
	name   string // from the root, with slashes
	text   string
	blocks []*pages.Block
}

// Every block of README.md and docs works as the page says: CONTRIBUTING.md has the
// rules. Every command that is named exists, every link leads somewhere, and figures
// have the command that gives them.
func TestPages(t *testing.T) {
	t.Parallel()
	all := readPages(t)
	bin := build(t, all)
	check := newChecker(t)
	cli := &commands{program: filepath.Join(bin, "ferrule")}
	for _, p := range all {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, err := range append(append(links(p.name, p.text), figures(p.name, p.text)...), cli.named(t.Context(), p)...) {
				t.Error(err)
			}
			for _, b := range p.blocks {
				if b.Lang == "go" && !b.Program() {
					if err := check.fragment(b, declared(p.text)); err != nil {
						t.Error(err)
					}
				}
			}
			follow(t, p, bin)
			if lines := strings.Count(p.text, "\n"); p.name == "README.md" && lines > 180 {
				t.Errorf("README.md: got %d lines, want at most 180: five minutes", lines)
			}
		})
	}
}

func readPages(t *testing.T) []*page {
	t.Helper()
	names := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		rel, err := filepath.Rel(root, name)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []*page
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := pages.Read(name, string(text))
		if err != nil {
			t.Error(err)
		}
		all = append(all, &page{name, string(text), blocks})
	}
	return all
}

// follow does what a page says, from top to bottom.
func follow(t *testing.T, p *page, bin string) {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	if p.name == "README.md" {
		copyTree(t, work)
	} else if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	shell := &pages.Shell{
		Dir: work, Ferrule: filepath.Join(bin, "ferrule"),
		Env: []string{
			"PATH=" + doubles(t, filepath.Join(dir, "bin"), bin, address) + string(filepath.ListSeparator) + os.Getenv("PATH"),
			"HOME=" + filepath.Join(dir, "home"), "FERRULE_HOME=" + filepath.Join(dir, "state"), "TMPDIR=" + dir,
			"LANG=C.UTF-8", "TERM=dumb", "GOPROXY=off", "GOFLAGS=-mod=mod",
			"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		},
		Seen: func(text string) string { return strings.ReplaceAll(text, address, "127.0.0.1:7711") },
	}
	t.Cleanup(func() {
		if err := shell.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, b := range p.blocks {
		switch b.Lang {
		case "go":
			program(t, b, work, bin)
		case "sh":
			if b.Shown {
				continue
			}
			if runtime.GOOS == "windows" {
				t.Skip("there is no bash")
			}
			if err := shell.Run(t.Context(), b); err != nil {
				t.Fatal(err) // what follows builds on it
			}
		case "yaml":
			if _, err := config.Parse("ferrule.yaml", work, b.Text); err != nil {
				t.Errorf("%s: %v", b, err)
			}
			if !b.Part {
				write(t, filepath.Join(work, "ferrule.yaml"), b.Text)
			}
		case "json":
			if err := json.Unmarshal([]byte(b.Text), new(any)); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		case "cedar":
			if _, err := cedar.New(cedar.Rules{}, cedar.File{Name: b.String(), Text: b.Text}); err != nil {
				t.Error(err)
			}
		}
	}
}

// program saves a program where the page says so, and runs it where the page says what
// it prints.
func program(t *testing.T, b *pages.Block, work, bin string) {
	t.Helper()
	if b.File != "" {
		write(t, filepath.Join(work, filepath.FromSlash(b.File)), b.Text)
	}
	if !b.Program() || b.Output == nil {
		return
	}
	run := exec.CommandContext(t.Context(), filepath.Join(bin, binary(b)))
	run.Dir = t.TempDir()
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%s: does not run: %v\n%s", b, err, out)
	} else if err := pages.Match(string(out), b.Output.Text); err != nil {
		t.Errorf("%s: %v", b.Output, err)
	}
}

// copyTree is a fresh clone, with what is not committed yet.
func copyTree(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && rel != "." || rel == "bench" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// doubles are what stands for ferrule and go: programs that are built already, at an
// address that is free.
func doubles(t *testing.T, dir, bin, address string) string {
	t.Helper()
	write(t, filepath.Join(dir, "ferrule"), `#!/bin/bash
case "$*" in
up*--address*) ;;
up*) set -- "$@" --address `+address+` ;;
esac
exec '`+filepath.Join(bin, "ferrule")+`' "$@"
`)
	write(t, filepath.Join(dir, "go"), `#!/bin/bash
case "$1 $2" in
"run ./cmd/ferrule") shift 2; exec ferrule "$@" ;;
"run ./"*) name=${2##*/}; shift 2; exec "`+bin+`/$name" "$@" ;;
esac
echo "go $*: want only go run ./PACKAGE: mark the block shown" >&2
exit 1
`)
	for _, name := range []string{"ferrule", "go"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
