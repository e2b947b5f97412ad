package tooltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// made is a tool, or the end of the test.
func made[In, Out any](t testing.TB, s tool.Spec[In, Out]) *tool.Tool {
	t.Helper()
	if s.Name == "" {
		s.Name = "put"
	}
	s.Description = "Put something somewhere."
	tl, err := s.Tool()
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// note is a test that keeps to itself what is said to it.
type note struct {
	testing.TB // only its context is used
	said       []string
	cleanups   []func()
}

func (n *note) Helper()          {}
func (n *note) Cleanup(f func()) { n.cleanups = append(n.cleanups, f) }

func (n *note) Error(args ...any) { n.said = append(n.said, fmt.Sprint(args...)) }
func (n *note) Errorf(format string, args ...any) {
	n.said = append(n.said, fmt.Sprintf(format, args...))
}

func (n *note) Fatalf(format string, args ...any) {
	n.Errorf(format, args...)
	panic(n)
}

// end is the end of the test.
func (n *note) end() {
	for _, f := range n.cleanups {
		f()
	}
}

type none struct{}

func TestDo(t *testing.T) {
	asks := func(ctx context.Context, _ none) (string, error) {
		if name, ok := tool.From(ctx).Answer(); ok {
			return "hello " + name, nil
		}
		return "", &tool.Outcome{Suspend: "Who are you?"}
	}
	does := func(context.Context, none) (string, error) { return "done", nil }
	type spec = tool.Spec[none, string]
	tests := []struct {
		name    string
		tool    spec
		input   string
		answers []string
		kind    tool.Kind // "": it went well
		want    string
	}{
		{"L1 a call that goes well", spec{Run: does}, `{}`, nil, "", "done"},
		{"S3 blank input is none", spec{Run: does}, "", nil, "", "done"},
		{"S3 input that is no object", spec{Run: does}, `1`, nil, tool.InvalidInput, "InputValidationError: (root): got number 1, want object"},
		{"L7 the tool fails", spec{Run: func(context.Context, none) (string, error) { return "", errors.New("no disk") }}, `{}`, nil, tool.Failed, "no disk"},
		{"L6 the tool panics", spec{Run: func(context.Context, none) (string, error) { panic("oh") }}, `{}`, nil, tool.Failed, "The tool failed unexpectedly."},
		{"T11 Validate refuses", spec{Run: does, Validate: func(context.Context, none) (json.RawMessage, error) { return nil, errors.New("not today") }}, `{}`, nil, tool.InvalidValue, "ValidationError: not today"},
		{"T12 Permit denies", spec{Run: does, Permit: func(context.Context, none) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Deny, Reason: "never"}, nil
		}}, `{}`, nil, tool.Denied, "never"},
		{"T12 Permit asks: yes", spec{Run: does, Permit: func(context.Context, none) (tool.Decision, error) {
			return tool.Decision{Verdict: tool.Ask}, nil
		}}, `{}`, nil, "", "done"},
		{"T13 approval: yes", spec{Info: tool.Info{Approval: tool.AskAlways}, Run: does}, `{}`, nil, "", "done"},
		{"L3 a person is there", spec{Info: tool.Info{NeedsUser: true}, Run: does}, `{}`, nil, "", "done"},
		{"L7 it asks, and is answered", spec{Run: asks}, `{}`, []string{"Ann"}, "", "hello Ann"},
		{"L7 it asks, and there is no answer", spec{Run: asks}, `{}`, nil, tool.Suspended, "Who are you?"},
		{"Q1 a deferred tool is loaded", spec{Info: tool.Info{Deferred: true}, Run: does}, `{}`, nil, "", "done"},
		{"T6 a name that is another on the wire", spec{Info: tool.Info{Name: "put.it"}, Run: does}, `{}`, nil, "", "done"},
		{"D8 a cooperative tool", spec{Info: tool.Info{Cooperative: true}, Run: does}, `{}`, nil, "", "done"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := tooltest.Do(t, made(t, tt.tool), tt.input, tt.answers...)
			kind := tool.Kind("")
			if res.Err != nil {
				kind = res.Err.Kind
			}
			if kind != tt.kind || res.String() != tt.want {
				t.Errorf("got %q %q, want %q %q", kind, res, tt.kind, tt.want)
			}
		})
	}

	t.Run("L7 it asks twice: one answer after another", func(t *testing.T) {
		var heard []string
		tl := made(t, spec{Run: func(ctx context.Context, _ none) (string, error) {
			if a, ok := tool.From(ctx).Answer(); ok {
				heard = append(heard, a)
			}
			if len(heard) < 2 {
				return "", &tool.Outcome{Suspend: "And then?"}
			}
			return strings.Join(heard, ", "), nil
		}})
		if got := tooltest.Do(t, tl, "", "one", "two").String(); got != "one, two" {
			t.Errorf("got %q, want both answers", got)
		}
	})
}

func TestDoRefuses(t *testing.T) {
	tests := []struct {
		name string
		tool *tool.Tool
		want string
	}{
		{"T1 no tool", nil, "tooltest: got no tool"},
		{"T2 a bad definition", &tool.Tool{Info: tool.Info{Name: "put"}}, `tooltest: register: tool "put": no description: a model chooses by it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := &note{TB: t}
			defer func() {
				if recover() != n || len(n.said) != 1 || n.said[0] != tt.want {
					t.Errorf("said %q, want the test to end with %q", n.said, tt.want)
				}
			}()
			tooltest.Do(n, tt.tool, "")
		})
	}
}

// A tool that hangs has its result, and the test says at its end that it does.
func TestDoHangs(t *testing.T) {
	for _, cooperative := range []bool{false, true} {
		t.Run(fmt.Sprintf("D7 cooperative %t", cooperative), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				n := &note{TB: t}
				tl := made(t, tool.Spec[none, string]{
					Info: tool.Info{Timeout: time.Minute, Cooperative: cooperative},
					Run:  func(context.Context, none) (string, error) { <-release; return "", nil },
				})
				if res := tooltest.Do(n, tl, ""); res.Err == nil || res.Err.Kind != tool.Timeout {
					t.Errorf("got %v, want a time-out", res)
				}
				n.end()
				if got := strings.Join(n.said, "\n"); !strings.Contains(got, "still running: put (") {
					t.Errorf("said %q, want the test to name what still runs", got)
				}
				close(release)
				synctest.Wait()
			})
		})
	}
}
