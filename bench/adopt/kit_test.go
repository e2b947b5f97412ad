package adopt

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

type place struct {
	City string `json:"city" jsonschema:"description=where"`
}

// world is a session with three tools: weather may run, burn may not, and novel says
// more than fits.
type world struct {
	session *ferrule.Session
	ran     atomic.Int64

	mu    sync.Mutex
	kinds map[audit.Kind]int // events of calls
}

func (w *world) observe(e audit.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kinds[e.Kind]++
}

// wantOnRecord wants every call that was asked for on the record, and those that must
// not run not to have run.
func (w *world) wantOnRecord(t *testing.T) {
	t.Helper()
	if got := w.ran.Load(); got != 2 {
		t.Errorf("%d calls ran, want 2", got)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kinds[audit.Requested] != len(asked) || w.kinds[audit.Ended] != len(asked) || w.kinds[audit.Started] != 2 {
		t.Errorf("on record: got %v, want %d requested and ended, 2 started", w.kinds, len(asked))
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{kinds: make(map[audit.Kind]int)}
	made := func(name string, run func(context.Context, place) (string, error)) *tool.Tool {
		out, err := tool.New(tool.Info{
			Name: name, Description: "What is there.", Claims: tool.Claims{ReadOnly: true, Local: true},
			Limit: tool.Limit{Chars: 200, Cut: "head"},
		}, run)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	weather := made("weather", func(_ context.Context, p place) (string, error) {
		w.ran.Add(1)
		return "sunny in " + p.City, nil
	})
	burn := made("burn", func(context.Context, place) (string, error) {
		w.ran.Add(1)
		return "burnt", nil
	})
	burn.Facts = func(tool.Args) (tool.Facts, error) { return tool.Facts{Hosts: []string{"rome.example"}}, nil }
	novel := made("novel", func(context.Context, place) (string, error) {
		w.ran.Add(1)
		return strings.Repeat("x", 5000), nil
	})
	rules, err := cedar.New(cedar.Rules{Allow: []string{"weather", "burn", "novel"}, Deny: []string{"burn(host: rome.example)"}})
	if err != nil {
		t.Fatal(err)
	}
	w.session = sessionWith(t, &ferrule.Runtime{Policy: rules, Observe: w.observe}, weather, burn, novel)
	return w
}

func sessionWith(t *testing.T, rt *ferrule.Runtime, tools ...*tool.Tool) *ferrule.Session {
	t.Helper()
	if err := rt.Add(tools...); err != nil {
		t.Fatal(err)
	}
	s := rt.Session(tool.Caller{})
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ownSession is a session of a program that allows itself what it brings.
func ownSession(t *testing.T, tools ...*tool.Tool) *ferrule.Session {
	t.Helper()
	return sessionWith(t, &ferrule.Runtime{Policy: policy.AllowOwn{}}, tools...)
}

// asked are calls and what the model must read for them.
var asked = []struct{ name, input, want string }{
	{"weather", `{"city":"Oslo"}`, "sunny in Oslo"},
	{"weather", `{"town":"Oslo"}`, "InputValidationError: "},
	{"weather", `{"city":`, "InputValidationError: "},
	{"burn", `{"city":"Rome"}`, "denied"},
	{"novel", `{"city":"Rome"}`, "[Truncated: 5000 chars total, showing first "},
}
