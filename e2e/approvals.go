package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// approvals has a person allow calls through the client that makes them: the
// official clients of both generations with users who say yes, no, nothing, or who
// are late; and requests that are none of those clients'.
func approvals(ctx context.Context, w *world, s *score) error {
	if w.direct {
		return nil // nobody asks there
	}
	o, err := w.openOffice(ctx)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, generation := range []string{"2025", "2026"} {
		for _, c := range []struct {
			name   string
			answer object // nil: it never answers
			late   int    // milliseconds
			also   string // what a person says elsewhere once there is a question: allow, deny
			judge  func(said string, ran int) bool
			want   string
		}{
			{"accept", saying("allow"), 0, "", func(said string, ran int) bool { return ran == 1 && !strings.Contains(said, "Waiting") }, "it ran once"},
			{"reject", saying("reject"), 0, "", func(said string, ran int) bool { return ran == 0 && strings.Contains(said, "no thanks") }, "it did not run, and the model is told what the person said"},
			{"decline", object{"action": "decline"}, 0, "", func(said string, ran int) bool { return ran == 0 && strings.Contains(strings.ToLower(said), "reject") }, "it did not run"},
			{"two answers at once", saying("allow"), 150, "deny", func(said string, ran int) bool {
				return ran == 1 && said == "two answers at once "+generation || ran == 0 && strings.Contains(strings.ToLower(said), "reject")
			}, "it ran, or it was rejected"},
			{"cancel, then allowed elsewhere", object{"action": "cancel"}, 0, "", nil, ""},
			{"time-out, then allowed elsewhere", nil, 0, "", nil, ""},
		} {
			if c.answer == nil && generation == "2026" {
				continue // it has its result, and waits for its user by itself
			}
			all.Go(func() {
				check := generation + ": " + c.name
				said, err := o.visit(ctx, generation, c.name, c.answer, c.late, c.also)
				if err != nil {
					s.fail(check, err.Error())
					return
				}
				ran, err := o.ran(c.name + " " + generation)
				switch {
				case err != nil:
					s.fail(check, err.Error())
				case c.judge != nil:
					s.hold(check, c.judge(said, ran), object{"said": said, "ran": ran}, c.want)
				default:
					o.callAgain(ctx, s, check, generation, c.name, said, ran)
				}
			})
		}
	}
	all.Go(func() { o.eachCall(ctx, s) })
	all.Wait()
	return o.states(ctx, s)
}

// saying is a form that was filled in.
func saying(decision string) object {
	return object{"action": "accept", "content": object{"decision": decision, "message": "no thanks"}}
}

// office is a gateway whose every call a person must allow, in front of a server
// that writes down which calls it got.
type office struct {
	w               *world
	dir, home, url  string
	counted         string // the server's file
	token, stranger string
}

func (w *world) openOffice(ctx context.Context) (*office, error) {
	program, err := w.build(ctx, "./e2e/sdkserver")
	if err != nil {
		return nil, err
	}
	o := &office{w: w, stranger: "a-token-of-somebody-else-1234"}
	if o.dir, err = w.folder("office"); err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	o.home, o.counted, o.url = filepath.Join(o.dir, "home"), filepath.Join(o.dir, "counted"), "http://"+address+"/mcp"
	text, err := json.Marshal(object{
		"servers": object{"sdk": object{"command": program, "args": []string{"-count", o.counted}, "unprefixed": true, "sanitize": "pass"}},
		"content": object{"flow": "off"}, // what is asked for is what the rules say
		"secrets": object{"eve": object{"env": "E2E_EVE"}},
		"listen":  object{"address": address, "tools": "full", "tokens": object{"eve": "eve"}},
		"policy":  object{"ask": []string{"*"}},
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(o.dir, "ferrule.yaml"), text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(w.program, "up", o.dir) //nolint:gosec,noctx // the program under test; it is stopped, not killed
	cmd.Dir, cmd.Env = o.dir, append(w.tools.environment(), "FERRULE_HOME="+o.home, "E2E_EVE="+o.stranger)
	p, err := w.start("ferrule up", cmd)
	if err != nil {
		return nil, err
	}
	return o, until(ctx, p, 30*time.Second, func(ctx context.Context) error {
		token, err := os.ReadFile(filepath.Join(o.home, "token"))
		if err != nil {
			return err
		}
		o.token = strings.TrimSpace(string(token))
		names, err := (&wire{url: o.url, stateless: true, token: o.token}).toolNames(ctx)
		if err == nil && len(names) == 0 {
			err = errors.New("no tools yet")
		}
		return err
	})
}

// visit has a client make one call, whose user answers so.
func (o *office) visit(ctx context.Context, generation, text string, answer object, late int, also string) (string, error) {
	e := errand{
		generation: generation, server: upstream{url: o.url, token: o.token}, answer: answer, silent: answer == nil, late: late,
		calls: []toolCall{{"echo", object{"text": text + " " + generation}}},
	}
	var (
		beside sync.WaitGroup
		other  error
	)
	aside, over := context.WithCancelCause(ctx)
	defer over(nil)
	if also != "" {
		beside.Go(func() { other = o.person(aside, also, text+" "+generation) })
	}
	visits, err := o.w.typescript(ctx, []errand{e})
	over(errAnswered)
	beside.Wait()
	if err != nil {
		return "", err
	}
	if err := visits[0].err; err != nil {
		return "", err
	}
	got := visits[0].outcomes[0]
	if got.Error != nil {
		return "", fmt.Errorf("got the error %s", got.Error)
	}
	if other != nil && !strings.Contains(other.Error(), "already") && !errors.Is(other, errAnswered) { // else it was late
		return "", other
	}
	return got.text(), nil
}

// errAnswered: the client had its result before the person saw the question.
var errAnswered = errors.New("the question was answered already")

// person answers the question about a call as soon as there is one.
func (o *office) person(ctx context.Context, verb, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	id := ""
	for id == "" {
		out, err := o.ferrule(ctx, "approvals", "--json")
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("no question about %q was seen: %w", text, context.Cause(ctx))
		case err != nil:
			return err
		}
		var all []struct{ ID, Input string }
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			return fmt.Errorf("approvals --json: got %q: %w", out, err)
		}
		for _, q := range all {
			if strings.Contains(q.Input, text) {
				id = q.ID
			}
		}
	}
	_, err := o.ferrule(context.WithoutCancel(ctx), "approvals", verb, id) // what was begun is ended
	return err
}

// ferrule runs the program as a person does.
func (o *office) ferrule(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, o.w.program, args...) //nolint:gosec // the program under test
	cmd.Dir, cmd.Env = o.dir, append(o.w.tools.environment(), "FERRULE_HOME="+o.home, "E2E_EVE="+o.stranger)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("ferrule %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// ran is how often the server got a call.
func (o *office) ran(text string) (int, error) {
	b, err := os.ReadFile(o.counted)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return strings.Count(string(b), text+"\n"), err
}

// callAgain is what a client that was told to call again does, once a person has
// allowed the call elsewhere: it runs, and the third time it is asked for anew.
func (o *office) callAgain(ctx context.Context, s *score, check, generation, text, said string, ran int) {
	if !s.hold(check+": it is told to call again", strings.Contains(said, "Call again") && ran == 0, object{"said": said, "ran": ran}, nil) {
		return
	}
	if err := o.person(ctx, "allow", text+" "+generation); err != nil {
		s.fail(check, err.Error())
		return
	}
	for _, again := range []string{"paid for once", "not twice"} {
		said, err := o.visit(ctx, generation, text, object{"action": "decline"}, 0, "")
		if err != nil {
			s.fail(check+", "+again, err.Error())
			return
		}
		ran, err := o.ran(text + " " + generation)
		first := again == "paid for once"
		s.hold(check+", "+again, err == nil && ran == 1 && (said == text+" "+generation) == first, object{"said": said, "ran": ran}, "it runs once")
	}
}

// states sends what no official client does: states that were used, changed, or
// given to somebody else.
func (o *office) states(ctx context.Context, s *score) error {
	mine, eve := &wire{url: o.url, stateless: true, token: o.token, elicits: true}, &wire{url: o.url, stateless: true, token: o.stranger, elicits: true}
	call := func(text string) object { return object{"name": "echo", "arguments": object{"text": text}} }
	result, err := mine.do(ctx, "tools/call", call("mine"))
	if err != nil {
		return err
	}
	var asked struct {
		ResultType, RequestState string
		InputRequests            map[string]json.RawMessage
	}
	if err := json.Unmarshal(result, &asked); err != nil || asked.ResultType != "input_required" || len(asked.InputRequests) != 1 {
		s.fail("a result that asks for input", string(result))
		return err
	}
	back := func(text string) object {
		responses := object{}
		for key := range asked.InputRequests {
			responses[key] = saying("allow")
		}
		p := call(text)
		p["requestState"], p["inputResponses"] = asked.RequestState, responses
		return p
	}
	refused := func(check string, c *wire, params object) {
		got, err := c.do(ctx, "tools/call", params)
		s.hold(check, err != nil && strings.Contains(err.Error(), "requestState"), object{"result": string(got), "error": fmt.Sprint(err)}, "it is refused")
	}
	refused("changed arguments", mine, back("another"))
	refused("another principal's state", eve, back("mine"))
	got, err := mine.do(ctx, "tools/call", back("mine"))
	s.hold("the state as it was given", err == nil && strings.Contains(string(got), `"mine"`), object{"result": string(got), "error": fmt.Sprint(err)}, "it runs")
	refused("a replayed state", mine, back("mine"))
	ran, err := o.ran("mine")
	s.hold("it ran once", err == nil && ran == 1, ran, 1)
	return nil
}
