package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// rules is what the policy says about a call; the witness hears what that comes
// to with all other voices.
func (st *stage) rules(r *tool.Request) tool.Decision {
	d := tool.Decision{Verdict: tool.Allow}
	switch pick(st.world.Policy, r.Name+r.Args.Text()) {
	case 0:
		d = tool.Decision{}
	case 1, 2:
		d = tool.Decision{Verdict: tool.Ask, Reason: "the rules"}
	case 3:
		d = tool.Decision{Verdict: tool.Silent}
	case 4:
		if len(r.Args.Text())%5 == 0 {
			panic("policy")
		}
	case 5:
		d = tool.Decision{Verdict: 77}
	}
	voices := []policy.Voice{{By: policy.ByPolicy, Decision: d}, {By: policy.ByApproval, Decision: policy.Approval(r.Tool, r.Source.Trust)}}
	if st.world.Decide {
		host, err := st.decide(context.Background(), r)
		voices = append(voices, policy.Voice{By: policy.ByHost, Decision: orDeny(host, err)})
	}
	var in worldIn
	if err := r.Args.Decode(&in); err != nil {
		panic(err)
	}
	switch r.Tool.Name {
	case "permits":
		voices = append(voices, policy.Voice{By: policy.ByPermit, Decision: orDeny(permit(in))})
	case "asksif":
		if askIf(in) {
			voices = append(voices, policy.Voice{By: policy.ByApproval, Decision: tool.Decision{Verdict: tool.Ask}})
		}
	}
	st.see.heard(r, policy.Combine(policy.Case{Claims: r.Claims, Trust: r.Source.Trust, Person: true, Mode: policy.Mode(r.Mode), Workspace: "/a"}, voices...).Verdict)
	return d
}

func orDeny(d tool.Decision, err error) tool.Decision {
	if err != nil {
		return tool.Decision{Verdict: tool.Deny}
	}
	return d
}

// decide is the host's own voice.
func (st *stage) decide(_ context.Context, r *tool.Request) (tool.Decision, error) {
	if r.Index%5 == 4 {
		return tool.Decision{}, errors.New("cannot say")
	}
	return tool.Decision{Verdict: tool.Silent}, nil
}

// hooks makes the hooks of a world for one round of a turn.
func (st *stage) hooks(round int) []Hook {
	var list []Hook
	for i, h := range st.world.Hooks {
		hook := Hook{Name: st.hookName(i, round), Security: h.Security}
		switch h.Part {
		case "input":
			hook.Input = func(ctx context.Context, r *tool.Request) (Change, error) {
				ch, err := h.input(ctx, r, i)
				st.see.looked(hook.Name, r, ch.Input)
				return ch, err
			}
		case "around":
			hook.Around = func(ctx context.Context, r *tool.Request, next Next) tool.Result { return h.around(ctx, r, next, i) }
		case "output":
			hook.Output = func(ctx context.Context, r *tool.Request, now, _ tool.Result) (*tool.Result, error) {
				return h.output(ctx, r, now, i)
			}
		}
		list = append(list, hook)
	}
	return list
}

func (st *stage) hookName(i, round int) string {
	h := st.world.Hooks[i]
	name := fmt.Sprintf("%d %s %s", i, h.Part, h.Does)
	if st.world.Rehook && round > 0 {
		name += " again"
	}
	return name
}

// acts reports whether the hook does anything about this call.
func (worldHook) acts(r *tool.Request, i int) bool { return (r.Index+i)%3 > 0 }

func (h worldHook) act(ctx context.Context) error {
	switch h.Does {
	case "panic":
		panic("hook")
	case "fail":
		return errors.New("hook")
	case "sleep":
		time.Sleep(3 * time.Millisecond)
	case "hang":
		<-ctx.Done()
	case "exit":
		runtime.Goexit()
	}
	return nil
}

func (h worldHook) input(ctx context.Context, r *tool.Request, i int) (Change, error) {
	if !h.acts(r, i) {
		return Change{Context: "seen"}, nil
	}
	switch h.Does {
	case "block":
		return Change{Block: "blocked"}, nil
	case "break":
		return Change{Input: json.RawMessage(`{"do":7}`)}, nil
	case "change":
		var in worldIn
		if err := r.Args.Decode(&in); err != nil {
			return Change{}, err
		}
		in.Tag, in.MS = in.Tag+fmt.Sprint("h", i), (in.MS+1)%7
		text, err := json.Marshal(in)
		return Change{Input: text}, err
	}
	return Change{}, h.act(ctx)
}

func (h worldHook) around(ctx context.Context, r *tool.Request, next Next, i int) tool.Result {
	if !h.acts(r, i) {
		return next(ctx)
	}
	switch h.Does {
	case "instead", "block":
		return tool.Result{Content: []tool.Content{tool.Text("instead")}}
	case "twice":
		next(ctx)
		return next(context.Background()) //nolint:contextcheck // a wrapper may do that
	case "change":
		inner, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		return next(inner)
	case "break":
		defer func() { go next(ctx) }()
	}
	if err := h.act(ctx); err != nil {
		return tool.Result{Err: &tool.Error{Kind: "odd", Text: err.Error()}}
	}
	return next(ctx)
}

func (h worldHook) output(ctx context.Context, r *tool.Request, now tool.Result, i int) (*tool.Result, error) {
	switch {
	case !h.acts(r, i):
		return nil, nil
	case h.Does == "change":
		now.Content = append(now.Content, tool.Text(strings.Repeat("x", 3000)))
		now.ID = "forged"
		return &now, nil
	case h.Does == "break":
		return &tool.Result{Err: &tool.Error{Kind: tool.Suspended}}, nil
	}
	return nil, h.act(ctx)
}

// inbox is one that is slow, fails and panics.
type inbox struct {
	policy.Memory
	world *world
	see   *witness
}

// mood is what the inbox does before, or instead of, what it was asked to do.
func (b *inbox) mood(what, id string) error {
	switch pick(b.world.Inbox, what+b.see.question(id).Input) {
	case 0:
		return errors.New("inbox")
	case 1:
		panic("inbox")
	case 2:
		time.Sleep(70 * time.Second)
	case 3, 4:
		time.Sleep(4 * time.Millisecond)
	}
	return nil
}

func (b *inbox) Ask(ctx context.Context, q policy.Question) error {
	b.see.note(func() { b.see.questions[q.ID] = q })
	b.onlyOne(ctx, q)
	if err := b.mood("ask", q.ID); err != nil {
		return err
	}
	err := b.Memory.Ask(ctx, q)
	if b.world.Delay == 0 {
		go b.reply(context.WithoutCancel(ctx), q, false) // at the very moment
	}
	if b.mood("asked", q.ID) != nil {
		runtime.Goexit()
	}
	return err
}

// onlyOne: there is one question at a time about a call, as far as the inbox does
// what it is told.
func (b *inbox) onlyOne(ctx context.Context, q policy.Question) {
	list, _ := b.Pending(ctx)
	for _, o := range list {
		if o.Caller.Agent == q.Caller.Agent && o.Index == q.Index && len(b.world.Inbox) == 1 {
			b.see.fault("%s is asked about %s while there is a question about %s", q.Call, q.Input, o.Input)
		}
	}
}

func (b *inbox) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	if err := b.mood("use", id); err != nil {
		return policy.Answer{}, err
	}
	a, err := b.Memory.Use(ctx, id, digest)
	if err == nil {
		b.see.took(id, a)
	}
	return a, err
}

func (b *inbox) Answer(ctx context.Context, id string, a policy.Answer) error {
	if err := b.mood("answer", id); err != nil {
		return err
	}
	return b.Memory.Answer(ctx, id, a)
}

func (b *inbox) Watch(f func(string)) func() {
	switch b.world.Watch {
	case 1:
		time.Sleep(10 * time.Millisecond)
	case 2:
		time.Sleep(70 * time.Second)
	case 3:
		panic("watch")
	case 4:
		b.Memory.Watch(f)
		return nil
	case 5:
		runtime.Goexit()
	}
	return b.Memory.Watch(f)
}

// person answers what is pending, as the world says: yes, no, twice, edited,
// never.
func (b *inbox) person(ctx context.Context) {
	for round := 0; ctx.Err() == nil; round++ {
		list, _ := b.Pending(ctx)
		for _, q := range list {
			b.reply(ctx, q, round > 12)
		}
		select {
		case <-ctx.Done():
		case <-time.After(b.world.Delay + time.Millisecond<<min(round, 16)):
		}
	}
}

// reply answers one question. Who never would says no at last, where the question
// does not expire.
func (b *inbox) reply(ctx context.Context, q policy.Question, late bool) {
	a := policy.Answer{Allow: true, By: "me", Text: "this one"}
	switch pick(b.world.Person, q.Tool+q.Input) {
	case 0:
		a.Allow = false
	case 1, 2:
		if b.world.Expiry != patience || !late {
			return
		}
		a.Allow = false
	case 3, 4:
		if q.Wants == "" {
			a.Input = edited(q.Input)
		}
	}
	if b.world.Lasts && a.Allow && a.Input == nil && len(q.Offers) > 0 {
		a.Rule, a.Second = q.Offers[0], true
	}
	_ = b.Memory.Answer(ctx, q.ID, a)
	_ = b.Memory.Answer(ctx, q.ID, policy.Answer{Allow: true}) // a second one is refused
}

// edited are arguments that a person puts in the place of those shown: they may
// touch something else.
func edited(input string) json.RawMessage {
	var in worldIn
	_ = json.Unmarshal([]byte(input), &in)
	in.Tag += "e"
	if in.MS++; in.Path == "file:/a" {
		in.Path = "file:/c"
	}
	text, _ := json.Marshal(in)
	return text
}

// answer is the host's function that answers.
func (st *stage) answer(ctx context.Context, q policy.Question) (policy.Answer, error) {
	switch pick(st.world.Person, q.Input) {
	case 4:
		panic("answer")
	case 5:
		return policy.Answer{}, errors.New("answer")
	case 6:
		time.Sleep(3 * time.Millisecond)
	case 7:
		<-ctx.Done()
	case 8:
		time.Sleep(70 * time.Second)
	}
	return policy.Answer{Allow: true, Text: "x"}, nil
}
