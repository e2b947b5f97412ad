package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needs skips a test where a program is not installed.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
}

func TestRealWork(t *testing.T) {
	for _, way := range []way{ways()[0], ways()[2]} {
		t.Run("N1 go test with a server and a module of the cache, "+way.name, func(t *testing.T) {
			t.Parallel()
			needs(t, "go")
			// The cache is the user's, so that this test need not compile the
			// standard library.
			cache, err := exec.Command("go", "env", "GOCACHE").Output()
			if err != nil {
				t.Fatal(err)
			}
			dir := strings.TrimSpace(string(cache))
			if err := os.MkdirAll(dir, 0o700); err != nil { // a user who has built nothing yet
				t.Fatal(err)
			}
			w := newWorld(t, way.change, func(c *Config) { c.Write, c.Env = []string{dir}, append(c.Env, "GOCACHE="+dir) })
			sum := moduleSum(t, "go.uber.org/goleak")
			write(t, w.work+"/go.mod", "module example.com/small\n\ngo 1.26\n\nrequire go.uber.org/goleak v1.3.0\n")
			write(t, w.work+"/go.sum", sum)
			write(t, w.work+"/small_test.go", `package small

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestServer(t *testing.T) {
	t.Parallel()
	if goleak.IgnoreCurrent() == nil {
		t.Error("the module does nothing")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	got, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if text, _ := io.ReadAll(got.Body); string(text) != "hello" {
		t.Errorf("got %q", text)
	}
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil {
		t.Error(err)
	}
}
`)
			if o, out := w.run("go", "test", "./..."); o.Code != 0 {
				t.Errorf("got %+v and %s", o, out)
			}
		})
		t.Run("N1 npm test, "+way.name, func(t *testing.T) {
			t.Parallel()
			needs(t, "npm", "node")
			w := newWorld(t, way.change)
			write(t, w.work+"/package.json", `{"name":"small","version":"1.0.0","scripts":{"test":"node --test"}}`)
			write(t, w.work+"/a.test.js", `
const test = require('node:test'), assert = require('node:assert'), http = require('node:http'), cp = require('node:child_process');
test('adds', () => assert.equal(1 + 1, 2));
test('runs', () => assert.equal(cp.execSync('echo hi').toString(), 'hi\n'));
test('serves', async () => {
  const s = http.createServer((q, r) => r.end('hello')).listen(0, '127.0.0.1');
  await new Promise(r => s.on('listening', r));
  const got = await fetch('http://127.0.0.1:' + s.address().port);
  assert.equal(await got.text(), 'hello');
  s.closeAllConnections(); s.close();
});
`)
			if o, out := w.run("npm", "test"); o.Code != 0 {
				t.Errorf("got %+v and %s", o, out)
			}
		})
		t.Run("N1 git commit and make, "+way.name, func(t *testing.T) {
			t.Parallel()
			needs(t, "git", "make")
			w := newWorld(t, way.change, func(c *Config) {
				dir := c.Workspace[0]
				out, err := exec.Command("git", "init", "-q", dir).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				c.Protected = []string{dir + "/.git/hooks", dir + "/.git/config", dir + "/ferrule.yaml"}
				c.Env = append(c.Env, "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=A", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=a@example.com")
			})
			write(t, w.work+"/Makefile", "all: out\nout: in\n\tcat in in > out\nclean:\n\trm -f out\n")
			write(t, w.work+"/in", "x\n")
			script := `set -e
make -s -j4; test "$(wc -l < out)" = 2; make -s clean
git add -A; git commit -q -m first; echo y >> in; git commit -qam second
git switch -q -c side; echo z > z; git add z; git commit -q -m side; git switch -q -; git merge -q --no-edit side; git stash list; git gc -q
git log --format=%s%an | head -1; git status --short`
			if o, out := w.bash(script); o.Code != 0 || out != "sideA\n" {
				t.Errorf("got %+v and %q", o, out)
			}
		})
		t.Run("N1 python with processes and a terminal, "+way.name, func(t *testing.T) {
			t.Parallel()
			needs(t, "python3")
			w := newWorld(t, way.change)
			write(t, w.work+"/a.py", `
import multiprocessing, pty, os, tempfile, subprocess
def f(x): return x * x
if __name__ == '__main__':
    with multiprocessing.Pool(2) as p: assert p.map(f, [1, 2, 3]) == [1, 4, 9]
    a, b = pty.openpty(); os.write(b, b'x'); assert os.read(a, 1) == b'x'
    tempfile.NamedTemporaryFile().write(b'x')
    print(subprocess.check_output(['sh', '-c', 'echo ok']).decode(), end='')
`)
			if o, out := w.run("python3", "a.py"); o.Code != 0 || out != "ok\n" {
				t.Errorf("got %+v and %s", o, out)
			}
		})
	}
}

// moduleSum is the lines of this module's go.sum for a module that is in the
// cache because this package's tests use it.
func moduleSum(t *testing.T, module string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(read(t, filepath.Join("..", "go.sum"))) {
		if strings.HasPrefix(line, module+" ") || strings.HasPrefix(line, "github.com/stretchr/testify ") || strings.HasPrefix(line, "gopkg.in/yaml") ||
			strings.HasPrefix(line, "github.com/davecgh") || strings.HasPrefix(line, "github.com/pmezard") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestServer(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	t.Run("B3 a server of one command is reached by the next, and by nobody else", func(t *testing.T) {
		w, other := newWorld(t), newWorld(t)
		write(t, w.work+"/index.html", "hello\n")
		out := newHeard()
		server, err := w.box.Start(t.Context(), Command{Args: []string{"python3", "-u", "-c", `
import http.server
s = http.server.HTTPServer(("127.0.0.1", 8000), http.server.SimpleHTTPRequestHandler)
print("up"); s.serve_forever()`}, Stdout: out, Stderr: out})
		if err != nil {
			t.Fatal(err)
		}
		out.until(t, "up")
		const ask = `import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:8000/index.html").read().decode(), end="")`
		if o, got := w.run("python3", "-c", ask); o.Code != 0 || got != "hello\n" {
			t.Errorf("got %+v and %q", o, got)
		}
		if o, got := other.run("python3", "-c", ask); o.Code == 0 {
			t.Errorf("another Box: got %+v and %q, want that there is no server", o, got)
		}
		if cmd := exec.Command("python3", "-c", ask); cmd.Run() == nil {
			t.Error("the host reached it")
		}
		server.Stop(0)
		server.Wait()
	})
}

func TestStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	t.Run("B1 stdin from a reader, both outputs apart", func(t *testing.T) {
		out, bad := newHeard(), newHeard()
		o, err := w.box.Run(t.Context(), Command{Args: []string{"bash", "-c", "cat; echo bad >&2; exit 3"}, Stdin: strings.NewReader("in\n"), Stdout: out, Stderr: bad})
		if err != nil || o.Code != 3 || out.String() != "in\n" || bad.String() != "bad\n" || o.Stopped != "" {
			t.Errorf("got %+v (%v), %q and %q", o, err, out, bad)
		}
	})
	t.Run("B1 stdin from a file", func(t *testing.T) {
		write(t, w.work+"/in", "file\n")
		in, err := os.Open(w.work + "/in")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if o, out := w.do(Command{Args: []string{"cat"}, Stdin: in}); o.Code != 0 || out != "file\n" {
			t.Errorf("got %+v and %q", o, out)
		}
	})
	t.Run("B1 a program that cannot be run is an error that names it", func(t *testing.T) {
		for _, tt := range []struct {
			command Command
			want    string
		}{
			{Command{Args: []string{"no-such-program"}}, `exec "no-such-program": not found in PATH`},
			{Command{Args: []string{w.work + "/nothing"}}, "no such file"},
			{Command{Args: []string{"true"}, Dir: w.work + "/nowhere"}, w.work + "/nowhere"},
			{Command{Args: []string{role()[0] + "/../../x"}}, role()[0] + "/../../x: not a directory"},
			{Command{}, "no program"},
		} {
			_, err := w.box.Run(t.Context(), tt.command)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: got %v, want %q", tt.command.Args, err, tt.want)
			}
		}
	})
	t.Run("N1 a folder outside to run in is not one to read or write", func(t *testing.T) {
		// Landlock does not refuse to be there, only to do something there.
		o, out := w.do(Command{Args: []string{"bash", "-c", "pwd; cat secret 2>/dev/null && echo read; ls 2>/dev/null && echo listed; (echo x > new) 2>/dev/null && echo written; :"}, Dir: w.outside})
		if out != w.outside+"\n" || exists(w.outside+"/new") {
			t.Errorf("got %+v and %q, want %q alone", o, out, w.outside)
		}
	})
	t.Run("N1 a program that may not be read is refused with the configuration line", func(t *testing.T) {
		text, err := os.ReadFile("/bin/true")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.outside+"/prog", text, 0o755); err != nil {
			t.Fatal(err)
		}
		_, err = w.box.Run(t.Context(), Command{Args: []string{w.outside + "/prog"}})
		if err == nil || !strings.Contains(err.Error(), w.outside+"/prog") || !strings.Contains(err.Error(), "sandbox.read") {
			t.Errorf("got %v", err)
		}
	})
}

// The folder and the PATH of this process are none of a command's.
func TestProgramIsFound(t *testing.T) {
	t.Parallel()
	for _, way := range append(ways(), way{"in-process", func(c *Config) { c.Level = InProcess }}) {
		t.Run("B1 a program is looked for where and with the PATH that the command has, "+way.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way.change)
			// Not written by this process, whose children may hold what it has open: a
			// program that is being written cannot be run.
			const write = `mkdir sub tools; for f in s.sh sub/s.sh tools/a-tool; do echo "#!/bin/sh
echo $f" > $f; chmod 755 $f; done`
			writer := exec.Command("sh", "-c", write)
			writer.Dir = w.work
			if out, err := writer.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, tt := range []struct {
				command Command
				want    string
			}{
				{Command{Args: []string{"./s.sh"}}, "s.sh\n"},
				{Command{Args: []string{"sub/s.sh"}}, "sub/s.sh\n"},
				{Command{Args: []string{"./s.sh"}, Dir: w.work + "/sub"}, "sub/s.sh\n"},
				{Command{Args: []string{"a-tool"}, Env: []string{"PATH=" + w.work + "/tools:/usr/bin:/bin"}}, "tools/a-tool\n"},
			} {
				if o, out := w.do(tt.command); o.Code != 0 || out != tt.want {
					t.Errorf("%q: got %+v and %q, want %q", tt.command.Args, o, out, tt.want)
				}
			}
		})
	}
}
