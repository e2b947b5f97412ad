package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// sight is one function of a tool beside Run. None may have an effect.
type sight struct {
	name  string
	call  func(context.Context, tool.Args) error
	waits bool // it has a context to look at
	sure  bool // it must not fail on input that is valid
}

// sights are those that the tool has, but for Validate and ClaimsOf: these also
// see what is not valid.
func sights(t *tool.Tool) (all []sight) {
	for _, s := range []sight{
		{"Permit", waiting(t.Permit), true, false},
		{"AskIf", waiting(t.AskIf), true, false},
		{"AskReasonOf", waiting(t.AskReasonOf), true, false},
		{"RejectTextOf", waiting(t.RejectTextOf), true, false},
		{"Preview", waiting(t.Preview), true, false},
		{"Facts", quick(t.Facts), false, true},
		{"Scopes", quick(t.Scopes), false, true},
		{"Key", waiting(t.Key), true, false},
	} {
		if s.call != nil {
			all = append(all, s)
		}
	}
	return all
}

func waiting[T any](f func(context.Context, tool.Args) (T, error)) func(context.Context, tool.Args) error {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, a tool.Args) error {
		_, err := f(ctx, a)
		return err
	}
}

func quick[T any](f func(tool.Args) (T, error)) func(context.Context, tool.Args) error {
	if f == nil {
		return nil
	}
	return func(_ context.Context, a tool.Args) error {
		_, err := f(a)
		return err
	}
}

// see calls every function beside Run, as a runtime would. It returns the input
// as Validate leaves it, and whether it is valid.
func (t *trial) see(ctx context.Context, in tool.Args) (final tool.Args, valid bool) {
	if t.over {
		return in, false
	}
	t.fresh()
	final, valid = t.seeValidate(ctx, in)
	if t.tool.ClaimsOf != nil {
		claims := sight{"ClaimsOf", quick(func(a tool.Args) (tool.Claims, error) {
			c, err := t.tool.ClaimsOf(a)
			if err == nil {
				err = c.Check()
			}
			return c, err
		}), false, valid && final == in}
		_ = t.seeOne(ctx, claims, in)
		if claims.sure = valid; final != in {
			_ = t.seeOne(ctx, claims, final)
		}
	}
	if valid {
		for _, s := range sights(t.tool) {
			_ = t.seeOne(ctx, s, final)
		}
	}
	return final, valid
}

// seeValidate asks Validate what it makes of the input.
func (t *trial) seeValidate(ctx context.Context, in tool.Args) (final tool.Args, valid bool) {
	if t.tool.Validate == nil {
		return in, true
	}
	var corrected json.RawMessage
	validate := sight{"Validate", func(ctx context.Context, a tool.Args) (err error) {
		corrected, err = t.tool.Validate(ctx, a)
		return err
	}, true, false}
	if err := t.seeOne(ctx, validate, in); err != nil || t.over {
		return in, false
	}
	text := strings.TrimSpace(string(corrected))
	if text == "" || text == "null" || text == strings.TrimSpace(in.Text()) {
		return in, true
	}
	final, err := t.tool.Readmit(in, corrected)
	if err != nil {
		t.faultOf(in, "Validate made %s of it, which does not fit the schema: %s", short(text), tool.AsError(err).Text)
		return in, false
	}
	return final, true
}

// seeOne calls one function, and says what it must not do. The error is the
// function's own.
func (t *trial) seeOne(ctx context.Context, s sight, in tool.Args) error {
	if t.over {
		return nil
	}
	own := alone(t.tool, in)
	back, err := within(patience, func() error { return s.call(t.context(ctx, in), own) })
	if !back {
		t.leftBehind(in, "%s did not return within %s", s.name, patience)
		return nil
	}
	switch p := (*panicked)(nil); {
	case errors.As(err, &p):
		t.faultOf(in, "%s panicked: %v", s.name, p)
	case err != nil && s.sure:
		t.faultOf(in, "%s failed on valid input: %v", s.name, err)
	}
	if !t.tool.Intact(own) {
		t.faultOf(in, "%s wrote to its input", s.name)
	}
	if t.Dir == "" {
		return err
	}
	now, lookErr := look(t.Dir)
	if lookErr != nil {
		t.fault("trial: the directory could not be read: %v", lookErr)
		t.over = true
	} else if changes := t.was.changes(now); len(changes) > 0 {
		t.faultOf(in, "%s must have no effect, but it changed the directory: %s", s.name, list(changes))
		t.fresh()
	}
	return err
}

// stop tries whether every function of a cooperative tool returns soon once its
// context ends: before it begins, and while it runs.
func (t *trial) stop(ctx context.Context, in tool.Args) {
	if !t.tool.Cooperative || t.over || !t.permitted(ctx, in) {
		return
	}
	all := append(sights(t.tool), sight{name: "Run", call: waiting(t.tool.Run), waits: true})
	if t.tool.Validate != nil {
		all = append(all, sight{name: "Validate", call: waiting(t.tool.Validate), waits: true})
	}
	for _, s := range all {
		if !s.waits {
			continue
		}
		for _, before := range []bool{true, false} {
			if t.fresh(); t.over {
				return
			}
			ended, cancel := context.WithCancel(t.context(ctx, in))
			when := "after its context ended"
			if before {
				cancel()
				when = "with a context that had ended before"
			}
			stop := time.AfterFunc(headStart, cancel)
			back, _ := within(headStart+soon, func() error { return s.call(ended, alone(t.tool, in)) })
			stop.Stop()
			cancel()
			if !back {
				t.leftBehind(in, "claims Cooperative, but %s did not return within %s %s", s.name, soon, when)
				return
			}
		}
	}
}

// permitted reports whether the tool itself would let the call come to Run.
func (t *trial) permitted(ctx context.Context, in tool.Args) bool {
	if t.tool.Permit == nil {
		return true
	}
	var d tool.Decision
	back, err := within(patience, func() (err error) {
		d, err = t.tool.Permit(t.context(ctx, in), alone(t.tool, in))
		return err
	})
	return back && err == nil && (d.Verdict != tool.Deny || d.Override)
}

// context is what a function gets that is called without a runtime.
func (t *trial) context(ctx context.Context, in tool.Args) context.Context {
	info := t.tool.Clone()
	h := tool.Host{Request: &tool.Request{
		Caller: t.Caller, Source: tool.Source{Trust: tool.Own}, Tool: &info,
		Name: t.stage.tool, CalledAs: t.stage.tool, ID: "trial", CallID: "1", Turn: 1,
		Args: in, Claims: t.tool.Claims,
	}}
	h.Request.Caller.Attended = true
	if len(t.Answers) > 0 {
		h.Answer = &t.Answers[0]
	}
	return h.Context(ctx)
}
