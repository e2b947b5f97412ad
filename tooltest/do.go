package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// Do runs one call of a tool through every gate of a runtime, as a tool of the
// program itself that policy.AllowOwn allows and with a person there, and returns
// the result, whatever it is: look at Err. Whether the call may run, where that is
// asked, is answered with yes. What the tool asks with Outcome.Suspend is answered
// with answers, one after another; where there is none left the result is of kind
// suspended, and its text is the question.
//
// A tool that cannot be registered fails the test at once; one that still runs
// some seconds after the test fails it too.
func Do(t testing.TB, tl *tool.Tool, input string, answers ...string) tool.Result {
	t.Helper()
	s, err := newStage(tl, tool.Caller{}, answers)
	if err != nil {
		t.Fatalf("tooltest: %v", err)
	}
	ctx := t.Context()
	t.Cleanup(func() {
		if err := s.close(context.WithoutCancel(ctx)); err != nil {
			t.Errorf("tooltest: %v", err)
		}
	})
	return s.do(ctx, input)[0]
}

// stage is a runtime with one tool and a person who has an answer to everything
// that was foreseen.
type stage struct {
	session *ferrule.Session
	tool    string
	answers []string // of each call

	mu    sync.Mutex
	given map[string]int    // answers, by call
	open  map[string]string // questions without an answer, by call
}

// stageLimit is how many calls of a stage run at once, whatever the environment
// says.
const stageLimit = 10

func newStage(tl *tool.Tool, c tool.Caller, answers []string) (*stage, error) {
	if tl == nil {
		return nil, errors.New("got no tool")
	}
	loaded := *tl
	loaded.Deferred = false // its first call would only load it
	s := &stage{tool: tl.Name, answers: answers, given: make(map[string]int), open: make(map[string]string)}
	rt := &ferrule.Runtime{
		Policy: policy.AllowOwn{}, Answer: s.answer, Limit: stageLimit,
		AllowLoop: func(context.Context, *tool.Request, int) bool { return true }, // a trial makes the same call again
	}
	if err := rt.Add(&loaded); err != nil {
		return nil, err
	}
	for r := range rt.All() {
		s.tool = r.Name // as models call it
	}
	c.Attended = true
	s.session = rt.Session(c)
	return s, nil
}

// answer is the person.
func (s *stage) answer(_ context.Context, q policy.Question) (policy.Answer, error) {
	a := policy.Answer{Allow: true, By: "tooltest"}
	if q.Wants == "" {
		return a, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.given[q.Call]
	if n == len(s.answers) {
		s.open[q.Call] = q.Wants
		return policy.Answer{}, errors.New("there is no answer left")
	}
	s.given[q.Call]++
	a.Text = s.answers[n]
	return a, nil
}

// do runs one call of the tool for each input, all in one turn.
func (s *stage) do(ctx context.Context, inputs ...string) []tool.Result {
	calls := make([]tool.Call, len(inputs))
	for i, input := range inputs {
		calls[i] = tool.Call{ID: fmt.Sprint(i + 1), Name: s.tool, Input: json.RawMessage(input)}
	}
	results := s.session.View(ctx).Do(ctx, calls...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range results {
		if question, ok := s.open[r.ID]; ok {
			results[i].Err = &tool.Error{Kind: tool.Suspended, Text: question, Detail: fmt.Sprintf("no answer was given to %q", question)}
		}
	}
	return results
}

// closing is how long a call that was given up has to return.
const closing = 5 * time.Second

func (s *stage) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	return s.session.Close(ctx)
}
