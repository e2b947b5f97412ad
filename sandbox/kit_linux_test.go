package sandbox

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// markName is in the environment of every process that a test starts.
const markName = "FERRULE_SANDBOX_TEST"

// way is one way to run commands at a level.
type way struct {
	name   string
	change func(*Config)
}

// ways are all that confine by the kernel alone.
func ways() []way {
	return []way{
		{"process", func(*Config) {}},
		{"process without namespaces", func(c *Config) { c.noNamespaces = "a test" }},
		{"namespace", func(c *Config) { c.Level = Namespace }},
	}
}

// world is a Box with its surroundings.
type world struct {
	*testing.T
	box     *Box
	work    string // the workspace
	outside string // a folder that is none of the sandbox's business
	mark    string
	link    string // a name in the workspace that is not taken
}

// newWorld makes a Box. When the test ends nothing of it may be left.
func newWorld(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	w := &world{T: t, work: t.TempDir(), outside: t.TempDir(), mark: rand.Text()}
	write(t, filepath.Join(w.outside, "secret"), "outside\n")
	config := Config{
		Helper: entered, Workspace: []string{w.work}, Network: Loopback,
		Read: []string{role()[0]}, Env: []string{markName + "=" + w.mark},
	}
	for _, f := range change {
		f(&config)
	}
	if config.Level == Namespace {
		if _, why := bubblewrap(); why != "" {
			t.Skip(why)
		}
	}
	box, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	w.box = box
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		if left := marked(w.mark); len(left) > 0 {
			t.Errorf("after Close processes are left: %v", left)
		}
		if box.own && exists(box.config.State) {
			t.Errorf("after Close %s is left", box.config.State)
		}
	})
	return w
}

// again is the same Box for another test, with a folder outside that is new.
func (w *world) again(t *testing.T, number int) *world {
	t.Helper()
	another := *w
	another.T, another.outside = t, filepath.Join(w.outside, strconv.Itoa(number))
	another.link = "link" + strconv.Itoa(number)
	write(t, filepath.Join(another.outside, "secret"), "outside\n")
	return &another
}

// run runs a command and gives all that it printed.
func (w *world) run(args ...string) (Outcome, string) {
	w.Helper()
	return w.do(Command{Args: args})
}

func (w *world) bash(script string) (Outcome, string) {
	w.Helper()
	return w.run("bash", "-c", script)
}

func (w *world) do(c Command) (Outcome, string) {
	w.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	o, err := w.box.Run(w.Context(), c)
	if err != nil {
		w.Fatalf("%q: %v", c.Args, err)
	}
	return o, out.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// marked are the living processes with a mark in their environment or their
// arguments.
func marked(mark string) []string {
	var all []string
	for _, pid := range processes() {
		dir := "/proc/" + strconv.Itoa(pid)
		env, _ := os.ReadFile(dir + "/environ")
		line, _ := os.ReadFile(dir + "/cmdline")
		if !strings.Contains(string(env)+string(line), mark) || pid == os.Getpid() {
			continue
		}
		all = append(all, strconv.Itoa(pid)+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return all
}

// eventually waits for something that no pipe tells.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// heard is a writer that tells when a text was written to it.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func newHeard() *heard { return &heard{news: make(chan struct{}, 1)} }

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p)
	select {
	case h.news <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// until waits until a text was written.
func (h *heard) until(t *testing.T, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for !strings.Contains(h.String(), text) {
		select {
		case <-h.news:
		case <-late:
			t.Fatalf("got %q, want %q in it", h.String(), text)
		}
	}
}
