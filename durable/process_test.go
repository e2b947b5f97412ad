package durable_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/durable"
)

// childEnv says what this binary does as a second process, childDir where.
const (
	childEnv = "DURABLE_TEST_CHILD"
	childDir = "DURABLE_TEST_DIR"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if err := children()[what](os.Getenv(childDir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// children are what a second process can do.
func children() map[string]func(dir string) error {
	all := map[string]func(string) error{"put": putAll, "hang": hang}
	maps.Copy(all, systemChildren())
	return all
}

func child(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+what, childDir+"="+dir)
	return cmd
}

// run wants a second process to succeed.
func run(t *testing.T, what, dir string) {
	t.Helper()
	if out, err := child(t, what, dir).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", what, err, out)
	}
}

// shared are texts that several processes put at the same time.
func shared() []string {
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprint("text ", i, strings.Repeat(" and more", i*1000)))
	}
	return all
}

// putAll says that it is ready, waits for a line, and puts the shared texts.
func putAll(dir string) error {
	d, err := durable.OpenDir(dir)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for _, text := range shared() {
		if _, err := d.Put(context.Background(), "ada", durable.Note{Tool: "list"}, text); err != nil {
			return err
		}
	}
	return nil
}

func TestDirOfTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var (
		cmds   []*exec.Cmd
		inputs []io.WriteCloser
	)
	for range 2 {
		cmd := child(t, "put", dir)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, cmd, "ready")
		cmds, inputs = append(cmds, cmd), append(inputs, in)
	}
	for _, in := range inputs {
		if _, err := io.WriteString(in, "go\n"); err != nil {
			t.Error(err)
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if all := files(t, dir); len(all) != len(shared()) {
		t.Errorf("got the files %q, want %d", all, len(shared()))
	}
	d := openDir(t, dir)
	for _, text := range shared() {
		handle := durable.Handle("ada", durable.Note{Tool: "list"}, text)
		if got, err := read(t.Context(), d, handle); err != nil || got != text {
			t.Errorf("%.10q: got %.10q, %v", text, got, err)
		}
	}
}

// waitFor starts a process and reads the line that it says first.
func waitFor(t *testing.T, cmd *exec.Cmd, want string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("got %q, %v, want %q", line, err, want)
	}
}

// hang puts a text, and stays in the middle of it for good.
func hang(dir string) error {
	d, err := durable.OpenDir(dir)
	if err != nil {
		return err
	}
	_, err = d.Put(&hanging{Context: context.Background(), looks: 4}, "ada", durable.Note{Tool: "list"}, long())
	return fmt.Errorf("put came back: %w", err)
}

func long() string { return strings.Repeat("0123456789", 1<<20) }

// hanging is a context that never answers after so many looks at it.
type hanging struct {
	context.Context
	looks int
}

func (h *hanging) Err() error {
	if h.looks--; h.looks < 0 {
		fmt.Println("half")
		_, _ = io.Copy(io.Discard, os.Stdin) // which the parent keeps open
	}
	return nil
}

func TestDirKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := child(t, "hang", dir)
	keep, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keep.Close() })
	waitFor(t, cmd, "half")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	left := only(t, dir)
	if info, err := os.Stat(left); err != nil || info.Size() == 0 {
		t.Errorf("got %v, %v, want a file in the middle of its writing", info, err)
	}
	d := openDir(t, dir)
	handle := durable.Handle("ada", durable.Note{Tool: "list"}, long())
	if blob, err := d.Open(t.Context(), "ada", handle); err == nil || err.Error() != durable.ErrNotFound.Error() {
		t.Errorf("Open: got %v, %v, want ErrNotFound", blob, err)
	}
	if held, err := d.Holds(t.Context(), "ada"); held || err != nil {
		t.Errorf("Holds = %v, %v, want false", held, err)
	}
	age(t, left, 2*time.Hour)
	if n, err := d.Sweep(t.Context(), time.Now().Add(-7*24*time.Hour)); n != 0 || err != nil {
		t.Errorf("Sweep = %d, %v, want 0, since it was never put", n, err)
	}
	if all := files(t, dir); all != nil {
		t.Errorf("got %q left", all)
	}
	put(t, d, long())
}
