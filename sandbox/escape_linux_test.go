package sandbox

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// escape is something that a command tries. Without a sandbox it succeeds, which
// shows that the try is a real one.
type escape struct {
	name string
	try  func(w *world) []string
	// sent says that the try succeeds, and leads nowhere: a packet goes to a
	// loopback where nobody listens.
	sent bool
	// always says that the try fails without a sandbox as well, on some machines
	// or for some users.
	always bool
	// mounts says that only read-only mounts refuse it, not Landlock.
	mounts bool
}

func escapes(listeners *listening, victim int) []escape {
	secret := func(w *world) string { return filepath.Join(w.outside, "secret") }
	relative := func(w *world) string { return strings.TrimPrefix(secret(w), filepath.Dir(w.work)+"/") }
	on := func(name string, more ...string) func(*world) []string {
		return func(w *world) []string { return role(append([]string{name, secret(w)}, more...)...) }
	}
	just := func(args ...string) func(*world) []string { return func(*world) []string { return role(args...) } }
	pid := strconv.Itoa(victim)
	self := strconv.Itoa(os.Getpid())
	return []escape{
		{name: "no write outside the workspace", try: on("write")},
		{name: "no new file outside", try: func(w *world) []string { return role("write", filepath.Join(w.outside, "new")) }},
		{name: "no file outside is emptied", try: on("truncate")},
		{name: "no file outside is removed", try: on("remove")},
		{name: "no file outside is brought in", try: func(w *world) []string { return role("rename", secret(w), filepath.Join(w.work, w.link)) }},
		{name: "no folder is made outside", try: func(w *world) []string { return role("mkdir", filepath.Join(w.outside, "dir")) }},
		{name: "no read outside, such as another user's home", try: on("read", "outside")},
		{name: "no folder outside is listed", try: func(w *world) []string { return role("list", w.outside) }},
		{name: "a path with .. leads nowhere else", try: func(w *world) []string {
			return role("read", w.work+"/../"+relative(w), "outside")
		}},
		{name: "/proc/self/root is no way out", try: func(w *world) []string { return role("read", "/proc/self/root"+secret(w), "outside") }},
		{name: "/proc of the host is no way out", try: func(w *world) []string { return role("read", "/proc/"+self+"/root"+secret(w), "outside") }},
		{name: "/proc/self/cwd is no way out", try: func(w *world) []string {
			return role("read", "/proc/self/cwd/../"+relative(w), "outside")
		}},
		{name: "the environment of the host is not read", try: just("read", "/proc/"+self+"/environ", "PATH")},
		{name: "a symbolic link is no way out", try: func(w *world) []string { return role("symlink", secret(w), filepath.Join(w.work, w.link)) }},
		{name: "a hard link is no way out", try: func(w *world) []string { return role("hardlink", secret(w), filepath.Join(w.work, w.link)) }},
		{name: "no mode outside is changed", try: on("chmod"), mounts: true},
		{name: "no owner outside is changed", try: on("chown"), mounts: true},
		{name: "no times outside are changed", try: on("touch"), mounts: true},
		{name: "no attribute outside is changed", try: on("attribute"), mounts: true},
		{name: "the mode of a device is not changed", try: just("keepmode", "/dev/full"), mounts: true, always: os.Getuid() != 0},
		{name: "no TCP", try: just("dial", "tcp", listeners.tcp)},
		{name: "no UDP", try: just("dial", "udp", listeners.udp), sent: true},
		{name: "no Unix socket at a path", try: func(w *world) []string { return role("dial", "unix", listeners.path) }},
		{name: "no datagram to a Unix socket by half a pair", try: just("pair", listeners.datagram, strconv.Itoa(unix.SOCK_DGRAM))},
		{name: "no datagram to a Unix socket by half a raw pair", try: just("pair", listeners.datagram, strconv.Itoa(unix.SOCK_RAW|unix.SOCK_CLOEXEC))},
		{name: "no abstract Unix socket", try: just("dial", "unix", listeners.abstract)},
		{name: "no packet sockets", try: just("packet"), always: os.Getuid() != 0},
		{name: "no netlink but routes", try: just("netlink")},
		{name: "no signal to the host", try: just("signal", self)},
		{name: "no signal to other processes", try: just("signal", pid)},
		{name: "no limits for other processes", try: just("limit", pid)},
		{name: "no limits for whoever started it", try: just("limit", "parent"), always: true},
		{name: "no ptrace of other processes", try: just("seize", pid)},
		{name: "no ptrace at all", try: just("traceme")},
		{name: "no io_uring", try: just("io_uring"), always: true},
		{name: "no namespaces", try: just("unshare"), always: true},
		{name: "no mounts", try: func(w *world) []string { return role("mount", w.work) }, always: os.Getuid() != 0},
		{name: "nothing is typed into a terminal", try: just("sti")},
		{name: "nothing is typed into a terminal by a longer number", try: just("sti", "long")},
		{name: "the mark of a command stays", try: just("locks")},
	}
}

func TestEscapes(t *testing.T) {
	listeners := listen(t)
	victim := exec.Command("sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	t.Run("ways", func(t *testing.T) {
		for _, way := range ways() {
			t.Run(way.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, way.change)
				for i, e := range escapes(listeners, victim.Process.Pid) {
					if e.mounts && strings.Contains(way.name, "without") {
						continue
					}
					t.Run("N1 "+e.name, func(t *testing.T) {
						w := w.again(t, i)
						o, out := w.run(e.try(w)...)
						if !e.sent && (o.Code != 1 || strings.Contains(out, "done")) || strings.Contains(out, "bwrap:") {
							t.Errorf("got %+v and %q, want a refusal", o, out)
						}
						if got := read(t, filepath.Join(w.outside, "secret")); got != "outside\n" {
							t.Errorf("outside is %q now", got)
						}
					})
				}
			})
		}
	})
	if heard := listeners.heard(); heard != "" {
		t.Errorf("from the sandbox a listener heard %q", heard)
	}
	// The same without a sandbox succeeds: these tests can fail.
	free := newWorld(t, func(c *Config) { c.Level = InProcess })
	for i, e := range escapes(listeners, victim.Process.Pid) {
		if e.always {
			continue
		}
		w := free.again(t, i)
		if o, out := w.run(e.try(w)...); o.Code != 0 || !strings.Contains(out, "done") {
			t.Errorf("%s, without a sandbox: got %+v and %q, want it done", e.name, o, out)
		}
	}
	if listeners.heard() == "" {
		t.Error("without a sandbox no listener heard anything")
	}
}

// listening is servers that must stay silent.
type listening struct {
	tcp, udp, path, abstract, datagram string

	said chan string
}

func listen(t *testing.T) *listening {
	t.Helper()
	dir := t.TempDir()
	l := &listening{path: filepath.Join(dir, "socket"), abstract: "@ferrule-" + filepath.Base(dir) + strconv.Itoa(os.Getpid()), said: make(chan string, 100)}
	var done []func()
	server := func(network, address string) string {
		listener, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				if n, _ := conn.Read(make([]byte, 10)); n > 0 {
					l.said <- network
				}
				_ = conn.Close()
			}
		}()
		done = append(done, func() { _ = listener.Close(); <-ended })
		return listener.Addr().String()
	}
	l.tcp = server("tcp", "127.0.0.1:0")
	server("unix", l.path)
	server("unix", l.abstract)
	packets := func(network, address string) string {
		conn, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for b := make([]byte, 100); ; {
				if _, _, err := conn.ReadFrom(b); err != nil {
					return
				}
				l.said <- network
			}
		}()
		done = append(done, func() { _ = conn.Close(); <-ended })
		return conn.LocalAddr().String()
	}
	l.udp = packets("udp", "127.0.0.1:0")
	l.datagram = packets("unixgram", filepath.Join(dir, "datagram"))
	t.Cleanup(func() {
		for _, f := range done {
			f()
		}
	})
	return l
}

// heard is who was heard so far.
func (l *listening) heard() string {
	var all []string
	for {
		select {
		case who := <-l.said:
			all = append(all, who)
		default:
			return strings.Join(all, " ")
		}
	}
}
