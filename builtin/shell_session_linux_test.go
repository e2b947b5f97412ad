package builtin_test

import (
	"encoding/json"
	"testing"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellEnds is a host whose session ends when it likes.
type shellEnds struct {
	atOnce bool
	ends   []func()
}

func (*shellEnds) Isolated(string)             {}
func (*shellEnds) Background() <-chan struct{} { return nil }
func (*shellEnds) WentOn(string)               {}
func (*shellEnds) Aside() func()               { return func() {} }

func (e *shellEnds) AtEnd(f func()) bool {
	if e.atOnce {
		f()
	} else {
		e.ends = append(e.ends, f)
	}
	return true
}

// A session that ends while a call of it begins is not in the way of one that
// is begun later under the same name.
func TestShellSessionEndsAtOnce(t *testing.T) {
	t.Parallel()
	tools, err := builtin.Shell{Workspace: []string{t.TempDir()}, Sandbox: sandbox.Config{Helper: shellHelper}}.Tools()
	if err != nil {
		t.Fatal(err)
	}
	shell := tools[0]
	run := func(host *shellEnds) (tool.Result, error) {
		args, err := shell.Admit(json.RawMessage(`{"command":"echo here"}`))
		if err != nil {
			t.Fatal(err)
		}
		return shell.Run(tool.Host{Request: &tool.Request{Caller: tool.Caller{Session: "one"}}, Outside: host}.Context(t.Context()), args)
	}
	t.Run("B3 a call whose session has ended does not run", func(t *testing.T) {
		if res, err := run(&shellEnds{atOnce: true}); err == nil {
			t.Errorf("got %s, want an error", res)
		}
	})
	t.Run("B3 the next session of this name does", func(t *testing.T) {
		next := &shellEnds{}
		if res, err := run(next); err != nil || res.String() != "here\n" {
			t.Errorf("got %s and %v", res, err)
		}
		for _, f := range next.ends {
			f()
		}
	})
}
