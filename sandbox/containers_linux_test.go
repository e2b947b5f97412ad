package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeEngine answers as docker does. What it is told to run it runs here, without
// isolation, and writes down how it was called.
const fakeEngine = `#!/bin/bash
echo "$*" >> "$0.log"
case $1 in
version) echo 99.0 ;;
kill) kill -TERM "$(cat "$0.$4")" ;;
rm) kill -KILL -- "$(cat "$0.$3")" ;;
run)
	shift
	while [ "$1" != the-image ]; do
		case $1 in
		--name) name=$2 ;;
		--env) export "$2" ;;
		--workdir) cd "$2" ;;
		esac
		case $1 in --rm|--interactive|--init|--read-only) shift ;; *) shift 2 ;; esac
	done
	shift
	( echo $BASHPID > "$0.$name"; exec "$@" ) &
	wait $!
	;;
esac
`

func engine(t *testing.T, script string) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "docker")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return path
}

func TestContainer(t *testing.T) {
	path := engine(t, fakeEngine)
	contained := func(c *Config) { c.Level, c.Image = Container, "the-image" }
	t.Run("N1 a command in a container", func(t *testing.T) {
		w := newWorld(t, contained, project)
		if o, out := w.bash("pwd; exit 3"); o.Code != 3 || out != w.work+"\n" || o.Applied.Level != Container {
			t.Errorf("got %+v and %q", o, out)
		}
		line := read(t, path+".log")
		for _, want := range []string{
			"--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges", "--memory 4294967296", "--pids-limit 512",
			"--ulimit nofile=4096:4096", "source=" + w.work + ",target=" + w.work + " ", "source=" + w.work + "/ferrule.yaml,target=" + w.work + "/ferrule.yaml,readonly",
			"--tmpfs " + w.work + "/.ferrule:ro", "--workdir " + w.work + " ", "the-image bash -c pwd",
		} {
			if !strings.Contains(line, want) {
				t.Errorf("got %s, want %q in it", line, want)
			}
		}
		if strings.Contains(line, "--env PATH=") {
			t.Error("the PATH of this machine was given to the image")
		}
	})
	t.Run("N1 what is protected or hidden in a folder cannot be moved away with it", func(t *testing.T) {
		w := newWorld(t, contained, project, func(c *Config) { c.Protected = append(c.Protected, c.Workspace[0]+"/.ferrule/store") })
		if err := w.box.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		args := w.box.by.(*containers).args("x", order{args: []string{"true"}, dir: w.work, limits: w.box.limits})
		at := make(map[string]string) // what is mounted where
		var order []string
		for i, a := range args {
			if a != "--mount" && a != "--tmpfs" {
				continue
			}
			where, _, _ := strings.Cut(args[i+1], ":")
			if _, after, ok := strings.Cut(args[i+1], "target="); ok {
				where, _, _ = strings.Cut(after, ",")
			}
			if at[where] != "" {
				t.Errorf("got %q and %q, want one: engines refuse two mounts at a path", at[where], args[i+1])
			}
			at[where] = args[i+1]
			order = append(order, where)
		}
		bind := func(name string) string { return "type=bind,source=" + w.work + name + ",target=" + w.work + name }
		for name, want := range map[string]string{
			"/.git": bind("/.git"), "/deep": bind("/deep"), "/deep/er": bind("/deep/er"), "/alone": bind("/alone"),
			"/.git/hooks": bind("/.git/hooks") + ",readonly", "/deep/er/rules": bind("/deep/er/rules") + ",readonly", "/guarded": bind("/guarded") + ",readonly",
			"/alone/secret": "type=bind,source=/dev/null,target=" + w.work + "/alone/secret,readonly", "/.ferrule/store": "",
			"/.ferrule/sandbox": bind("/.ferrule/sandbox") + ",readonly", "/.ferrule/sandbox/home": bind("/.ferrule/sandbox/home"),
		} {
			if got := at[w.work+name]; got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		if !slices.IsSorted(order) {
			t.Errorf("got %q, want folders before what is in them", order)
		}
	})
	t.Run("N1 one that only reads has nothing writable but its temporary files", func(t *testing.T) {
		w := newWorld(t, contained)
		c := w.box.by.(*containers)
		if err := w.box.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		args := c.args("x", order{args: []string{"true"}, dir: w.work, read: true, limits: w.box.limits})
		for i, a := range args {
			if a == "--mount" && !strings.HasSuffix(args[i+1], ",readonly") && !strings.Contains(args[i+1], w.box.config.State+"/tmp,") {
				t.Errorf("got %q, want it read-only", args[i+1])
			}
		}
		if !slices.Contains(args, "--mount") {
			t.Error("nothing is mounted")
		}
	})
	t.Run("B3 a container is asked to end, and ended", func(t *testing.T) {
		w := newWorld(t, contained)
		out := newHeard()
		r, err := w.box.Start(t.Context(), Command{Args: []string{"bash", "-c", "trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.01; done"}, Stdout: out})
		if err != nil {
			t.Fatal(err)
		}
		out.until(t, "up")
		r.Stop(shortGrace * 5)
		if o := r.Wait(); o.Stopped != "stopped" || !strings.Contains(out.String(), "asked") {
			t.Errorf("got %+v and %q", o, out)
		}
	})
	t.Run("N1 no image is an error", func(t *testing.T) {
		if _, err := New(Config{Helper: entered, Workspace: []string{t.TempDir()}, Level: Container}); err == nil || !strings.Contains(err.Error(), "sandbox.image") {
			t.Errorf("got %v", err)
		}
	})
}

func TestProbe(t *testing.T) {
	engine(t, "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
	t.Run("N1 Probe says which levels can be had, and why not", func(t *testing.T) {
		all := Probe(entered)
		if len(all) != 4 {
			t.Fatalf("got %+v", all)
		}
		for i, want := range []Level{InProcess, Process, Namespace, Container} {
			if all[i].Level != want {
				t.Errorf("got %q, want %q", all[i].Level, want)
			}
		}
		if !all[1].Available {
			t.Errorf("got %+v", all[1])
		}
		if got := all[3]; got.Available || !strings.Contains(got.Why, "docker is there but its engine does not answer") {
			t.Errorf("got %+v", got)
		}
	})
}
