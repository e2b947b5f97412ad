package examples_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// update has TestExamples write down what the examples print, where it is
// otherwise compared:
//
//	go test ./examples -update
var update = flag.Bool("update", false, "write */output.txt")

// Every example prints what its output.txt says.
func TestExamples(t *testing.T) {
	t.Parallel()
	readAll(t)
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	folders = slices.DeleteFunc(folders, func(f os.DirEntry) bool { return !f.IsDir() })
	binaries := t.TempDir()
	if err := buildExamples(t.Context(), binaries, folders); err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			got, err := runExample(t.Context(), t.TempDir(), filepath.Join(binaries, f.Name()+exe()))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join(f.Name(), "output.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("every example says what it prints (go test ./examples -update): %v", err)
			}
			if want := strings.ReplaceAll(string(text), "\r\n", "\n"); got != want {
				t.Errorf("prints other than %s says:\ngot:\n%s\nwant:\n%s", golden, got, want)
			}
		})
	}
	t.Run("README.md lists every example", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile("README.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folders {
			if f.IsDir() && !strings.Contains(string(text), "["+f.Name()+"]("+f.Name()+"/main.go)") {
				t.Errorf("%s: not there", f.Name())
			}
		}
	})
	t.Run("hello links at most six third-party modules", func(t *testing.T) {
		t.Parallel()
		const most = 6
		got, err := linked(t.Context(), "./hello")
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > most {
			t.Errorf("got %d modules, want at most %d:\n%s", len(got), most, strings.Join(got, "\n"))
		}
		if !slices.Contains(got, "github.com/santhosh-tekuri/jsonschema/v6") {
			t.Errorf("got %q, want also the one that checks schemas: is the list complete?", got)
		}
	})
}

// readAll opens every Go file of the module: go's test cache knows only what the
// test itself opened, and the examples are made of all of them.
func readAll(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "bench" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") && d.Name() != "go.mod":
			return nil
		}
		_, err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// buildExamples builds all examples at once: the go command reads the module anew
// each time. What only a debugger needs is left out.
func buildExamples(ctx context.Context, dir string, folders []os.DirEntry) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}
	for _, f := range folders {
		args = append(args, "./"+f.Name())
	}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("does not build: %w\n%s", err, out)
	}
	return nil
}

// exe is how the name of a program ends.
func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// runExample runs an example in a folder. It is not go run: ending the go command
// would leave the program running.
func runExample(ctx context.Context, dir, binary string) (output string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, binary)
	run.Dir = dir
	run.Env = append(os.Environ(), "FERRULE_MAX_CONCURRENCY=1") // who needs more at once says so
	out, err := run.Output()
	if err != nil {
		return "", fmt.Errorf("does not run: %w\n%s%s", err, out, stderr(err))
	}
	return string(out), nil
}

// linked are the modules of others whose packages a program is made of.
func linked(ctx context.Context, path string) ([]string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", path)
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr(err))
	}
	modules := slices.DeleteFunc(strings.Fields(string(out)), func(m string) bool { return m == "github.com/ferrule-dev/ferrule" })
	slices.Sort(modules)
	return slices.Compact(modules), nil
}

// stderr is what a program wrote to standard error before it failed.
func stderr(err error) []byte {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}
