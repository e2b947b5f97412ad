package mcptool

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// apart starts a child as one who isolates does: what it writes is copied.
func apart(started *[]*exec.Cmd) func(context.Context, *exec.Cmd) (*Child, error) {
	return func(_ context.Context, cmd *exec.Cmd) (*Child, error) {
		*started = append(*started, cmd)
		run := exec.Command(cmd.Args[0], cmd.Args[1:]...)
		run.Env, run.Dir, run.Stdin, run.Stdout, run.Stderr = cmd.Env, cmd.Dir, cmd.Stdin, copying{cmd.Stdout}, copying{cmd.Stderr}
		if err := run.Start(); err != nil {
			return nil, err
		}
		return &Child{Isolation: "namespace, for a test", Wait: run.Wait, Stop: func(kill bool) {
			if kill {
				_ = run.Process.Kill() // it may be gone
			}
		}}, nil
	}
}

// copying hides that a writer is a file, which would be handed on.
type copying struct{ w io.Writer }

func (c copying) Write(b []byte) (int, error) { return c.w.Write(b) }

// logging is a server that is called old, which writes its calls down.
func logging(t *testing.T) Server {
	t.Helper()
	return child(t, "old", childLog+"="+filepath.Join(t.TempDir(), "calls"))
}

func TestIsolated(t *testing.T) {
	t.Parallel()
	t.Run("N3 a server is started by who isolates it, and how is on the record of each call", func(t *testing.T) {
		var seen []string
		var started []*exec.Cmd
		rt := allowAll()
		rt.Observe = func(e audit.Event) {
			if e.Kind == audit.Isolated {
				seen = append(seen, e.Text)
			}
		}
		s := logging(t)
		s.Start = apart(&started)
		h := &Hub{Runtime: rt, Servers: []Server{s}}
		start(t, h)
		session := rt.Session(tool.Caller{Session: "one"})
		for range 2 {
			if got := session.Call(t.Context(), "old__pid", "{}"); got.Err != nil {
				t.Fatal(got.Err)
			}
		}
		want := "namespace, for a test"
		if !slices.Equal(seen, []string{want, want}) || h.Status()[0].Isolation != want {
			t.Errorf("got %q and %q, want %q for each", seen, h.Status()[0].Isolation, want)
		}
		if h.ward.sentry != nil {
			t.Error("got a sentry, want none: it does not end what is not a child of this program")
		}
		for _, cmd := range started {
			if !slices.Equal(cmd.Env, s.Env) {
				t.Errorf("got the variables %q, want those that it was given: %q", cmd.Env, s.Env)
			}
		}
	})
	t.Run("N3 what is on the record is how the process of the call is isolated, not the last one of the server", func(t *testing.T) {
		var seen []string
		var started []*exec.Cmd
		rt := allowAll()
		rt.Observe = func(e audit.Event) {
			if e.Kind == audit.Isolated {
				seen = append(seen, e.Request.Caller.Session+": "+e.Text)
			}
		}
		s := logging(t)
		times := 0
		s.Start = func(ctx context.Context, cmd *exec.Cmd) (*Child, error) {
			if times++; times == 2 { // the hub has the first
				return &Child{Isolation: "in-process, as nothing else can be had"}, nil
			}
			return apart(&started)(ctx, cmd)
		}
		start(t, &Hub{Runtime: rt, Servers: []Server{s}})
		one, two := rt.Session(tool.Caller{Session: "one"}), rt.Session(tool.Caller{Session: "two"})
		for _, session := range []*ferrule.Session{one, two, one} {
			if got := session.Call(t.Context(), "old__pid", "{}"); got.Err != nil {
				t.Fatal(got.Err)
			}
		}
		plain := "one: in-process, as nothing else can be had"
		if want := []string{plain, "two: namespace, for a test", plain}; !slices.Equal(seen, want) {
			t.Errorf("got %q, want %q", seen, want)
		}
	})
	t.Run("M1 it is killed if it takes no hint", func(t *testing.T) {
		var started []*exec.Cmd
		s := child(t, "stubborn")
		s.Start = apart(&started)
		l := dial(t, s, oldEra, nil)
		wantEcho(t, l)
		l.close() // returns when it is gone
	})
	t.Run("M1 what it wrote at last is told when it ends", func(t *testing.T) {
		var started []*exec.Cmd
		s := child(t, "failing")
		s.Start = apart(&started)
		_, err := dialStdio(t.Context(), s, introduction{}, oldEra, listener{}, nil)
		if err == nil || !strings.Contains(err.Error(), "exit status 3; it wrote at last: DATABASE_URL is not set") {
			t.Errorf("got %v", err)
		}
	})
	for _, tt := range []struct {
		name  string
		start func(context.Context, *exec.Cmd) (*Child, error)
		kind  tool.Kind
		want  string
	}{
		{"N2 where the level cannot be had the call fails with sandbox", func(context.Context, *exec.Cmd) (*Child, error) {
			return nil, &tool.Error{Kind: tool.Sandbox, Detail: "no Landlock here"}
		}, tool.Sandbox, "Server old cannot be isolated as it must be here, so it does not run. Nothing was done."},
		{"L6 one that panics", func(context.Context, *exec.Cmd) (*Child, error) { panic("no") }, tool.Failed, "cannot be reached"},
		{"one that gives nothing", func(context.Context, *exec.Cmd) (*Child, error) { return nil, nil }, tool.Failed, "cannot be reached"},
		{"one that does not find the program", func(context.Context, *exec.Cmd) (*Child, error) { return nil, exec.ErrNotFound }, tool.Failed, "cannot be reached"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cache := t.TempDir()
			s := logging(t)
			before := &Hub{Runtime: allowAll(), Servers: []Server{s}, Cache: cache}
			start(t, before) // so that its tools are known
			s.Start = tt.start
			h := &Hub{Runtime: allowAll(), Servers: []Server{s}, Cache: cache}
			start(t, h)
			got := h.Runtime.Session(tool.Caller{}).Call(t.Context(), "old__pid", "{}")
			if got.Err == nil || got.Err.Kind != tt.kind || !strings.Contains(got.Err.Text, tt.want) {
				t.Errorf("got %v (%v), want %s and %q", got.Err, got, tt.kind, tt.want)
			}
			want := "The server cannot be reached now. Nothing was done."
			if tt.kind == tool.Sandbox {
				want = "The server cannot be isolated as it must be here, so it does not run. Nothing was done."
			}
			_, err := h.server("old").do(t.Context(), &testExchange{a: &testAudience{version: oldVersion}}, "prompts/get", nil)
			if got := plainly(err); got != want {
				t.Errorf("what is no call: got %q, want %q", got, want)
			}
			st := h.Status()[0]
			if tt.kind == tool.Sandbox && !strings.Contains(st.Why, "no Landlock here") {
				t.Errorf("got %+v, want why it does not run", st)
			}
		})
	}
	t.Run("N2 where the operator wrote that a plain process will do, it is one, and the record says so", func(t *testing.T) {
		s := logging(t)
		s.Start = func(context.Context, *exec.Cmd) (*Child, error) {
			return &Child{Isolation: "in-process, as nothing else can be had"}, nil
		}
		h := &Hub{Runtime: allowAll(), Servers: []Server{s}}
		start(t, h)
		if got := h.Runtime.Session(tool.Caller{}).Call(t.Context(), "old__pid", "{}"); got.Err != nil {
			t.Error(got.Err)
		}
		if st := h.Status()[0]; st.Isolation != "in-process, as nothing else can be had" || h.ward.sentry == nil {
			t.Errorf("got %+v, want a process that is watched over", st)
		}
	})
	t.Run("M1 a child that begins while the program ends is ended", func(t *testing.T) {
		var started []*exec.Cmd
		var w ward
		w.kill()
		s := child(t, "stubborn")
		s.Start, s.ward = apart(&started), &w
		p, err := startProcess(t.Context(), s, nil)
		if err != nil && !errors.Is(err, errWardClosed) {
			t.Fatal(err)
		}
		if p != nil {
			<-p.ended
			p.close()
		}
	})
}
