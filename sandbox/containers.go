package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// containers starts each command in a container of its own.
type containers struct {
	box    *Box
	engine string // the program
}

// newContainers finds an engine that answers.
func newContainers(box *Box) (*containers, error) {
	engine, why := findEngine()
	if why != "" {
		return nil, &Unavailable{Container, why}
	}
	if box.config.Image == "" {
		return nil, errors.New("sandbox: level container needs an image: got none (configuration: sandbox.image)")
	}
	return &containers{box, engine}, nil
}

// findEngine finds podman or docker. Docker is a client of something that has to
// run; one that does not answer is no engine.
func findEngine() (program, why string) {
	var found []string
	for _, name := range []string{"docker", "podman"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		format := "{{.Server.Version}}"
		if name == "podman" {
			format = "{{.Client.Version}}"
		}
		out, err := exec.CommandContext(ctx, path, "version", "--format", format).Output() //nolint:gosec // one of two names, found in PATH
		cancel()
		if err == nil && strings.TrimSpace(string(out)) != "" {
			return path, ""
		}
		found = append(found, name+" is there but its engine does not answer")
	}
	if len(found) > 0 {
		return "", strings.Join(found, "; ")
	}
	return "", "neither docker nor podman is installed"
}

func (c *containers) start(o order) (work, error) {
	name := "ferrule-" + strings.ToLower(rand.Text())
	cmd := &exec.Cmd{
		Path: c.engine, Args: append([]string{c.engine}, c.args(name, o)...), Env: os.Environ(),
		Stdin: o.files[0], Stdout: o.files[1], Stderr: o.files[2],
	}
	w, err := startPlain(cmd)
	if err != nil {
		return nil, err
	}
	return &contained{plainWork: w, engine: c.engine, name: name}, nil
}

// args is the command line of the engine.
func (c *containers) args(name string, o order) []string {
	b := c.box
	args := []string{
		"run", "--rm", "--interactive", "--init", "--name", name, "--read-only", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--workdir", o.dir,
	}
	if uid := os.Getuid(); uid >= 0 {
		args = append(args, "--user", strconv.Itoa(uid)+":"+strconv.Itoa(os.Getgid()))
	}
	if b.config.Network != Open {
		args = append(args, "--network", "none")
	}
	if o.limits.Memory < none {
		m := strconv.FormatInt(o.limits.Memory, 10)
		args = append(args, "--memory", m, "--memory-swap", m)
	}
	args = append(args, "--pids-limit", strconv.Itoa(o.limits.Processes), "--ulimit", "core=0")
	if n := strconv.Itoa(o.limits.Files); o.limits.Files < 1<<31-1 {
		args = append(args, "--ulimit", "nofile="+n+":"+n)
	}
	if n := strconv.FormatInt(o.limits.FileSize, 10); o.limits.FileSize < none {
		args = append(args, "--ulimit", "fsize="+n+":"+n)
	}
	args = append(args, b.config.mountOptions(!o.read)...)
	for _, entry := range o.env {
		// PATH and the places of toolchains are those of the image.
		key, _, _ := strings.Cut(entry, "=")
		if _, ok := places()[key]; !ok && !slices.Contains([]string{"PATH", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN"}, key) {
			args = append(args, "--env", entry)
		}
	}
	return append(append(args, b.config.Image), o.args...)
}

// mountOptions is what an engine is told of files. It refuses two mounts at one path,
// and mounts folders before what lies in them whatever the order here: so there is
// one for each path, and none in what is hidden.
func (c *Config) mountOptions(writable bool) []string {
	tmp := filepath.Join(c.State, "tmp")
	at := map[string][]string{"/tmp": {"--mount", "type=bind,source=" + tmp + ",target=/tmp"}}
	bind := func(writable bool, paths ...string) {
		for _, path := range paths {
			option := "type=bind,source=" + path + ",target=" + path
			if !writable {
				option += ",readonly"
			}
			if exists(path) {
				at[path] = []string{"--mount", option}
			}
		}
	}
	protected, hidden := cleaned(c.Protected), cleaned(c.Hidden)
	bind(false, c.Read...)
	bind(writable, slices.Concat(c.Workspace, c.Write, pins(slices.Concat(protected, hidden), c.Workspace))...)
	bind(false, protected...)
	state := func() {
		bind(false, c.State)
		bind(writable, stateFolders(c.State)...)
		bind(true, tmp)
	}
	state()
	for _, path := range hidden {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		maps.DeleteFunc(at, func(other string, _ []string) bool { return inside(other, path) })
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			at[path] = []string{"--tmpfs", path + ":ro,size=64k"}
		} else {
			at[path] = []string{"--mount", "type=bind,source=" + os.DevNull + ",target=" + path + ",readonly"}
		}
		if inside(c.State, path) {
			state()
		}
	}
	var args []string
	for _, path := range slices.Sorted(maps.Keys(at)) {
		args = append(args, at[path]...)
	}
	return args
}

func (c *containers) applied() Applied {
	a := Applied{Level: Container, Network: c.box.config.Network, Kernel: []string{filepath.Base(c.engine), "image " + c.box.config.Image}}
	if a.Network == Loopback {
		a.Differs = append(a.Differs, "each command has a loopback of its own: it does not reach servers that other commands started")
	}
	return a
}

func (*containers) close() error { return nil }

// contained is the engine's client, and the container that it waits for.
type contained struct {
	*plainWork
	engine, name string
}

func (c *contained) terminate() { go c.insist("kill", "--signal", "TERM", c.name) }

// kill removes the container; the client ends when it is gone. A client that does
// not is ended too.
func (c *contained) kill() {
	go func() {
		c.insist("rm", "--force", c.name)
		select {
		case <-c.end:
		case <-time.After(5 * time.Second):
			c.plainWork.kill()
		}
	}()
}

// insist tells the engine something until it has done it: a container that is
// being made is not there yet.
func (c *contained) insist(args ...string) {
	for range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := exec.CommandContext(ctx, c.engine, args...).Run() //nolint:gosec // the engine
		cancel()
		if err == nil {
			return
		}
		select {
		case <-c.end:
			return
		case <-time.After(250 * time.Millisecond):
		}
	}
}
