package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// hookClient is the client whose hook this is, and the source of its tools.
const hookClient = "claude-code"

// hooking are the flags of hook.
type hooking struct {
	wait   time.Duration
	within time.Duration // a decision, beside waiting; see deciding
}

// deciding is how long a decision may take beside waiting for a person: far below
// what the client gives a hook. A hook that is ended by its client blocks nothing,
// unless the client's file says so.
const deciding = 20 * time.Second

// givingUp is how much longer it may take where something does not heed the end of that:
// a file on a disk that does not answer.
const givingUp = 5 * time.Second

// maxWait is how long a hook waits for a person, at most.
const maxWait = 24 * time.Hour

func (p *program) hookCommand() *cobra.Command {
	f := hooking{within: deciding}
	cmd := &cobra.Command{
		Use:   "hook claude-code [DIR]",
		Short: "Answer a client that asks whether its own tools may run",
		Long: `Answer Claude Code, which runs this before each call of its own tools (Bash, Edit,
WebFetch, …) with the call as JSON on standard input: the rules of ferrule.yaml, what
was allowed for longer than once, the mode, limits and hooks decide as for every
other call, and it is on the record. The client runs the tool itself.

Where a person must be asked the client asks its user; with --wait the question is
put to ` + "`ferrule approvals`" + ` instead. In modes in which the client asks nobody (auto,
dontAsk, bypassPermissions) such a call is denied. DIR is the workspace, else
$CLAUDE_PROJECT_DIR is; where neither is given the call is denied.

` + "`ferrule connect claude-code --hook`" + ` writes it into the client's settings. The exit
status is 0 where the answer is printed, and 2, which blocks the call, for everything
else.`,
		Example: `  ferrule hook claude-code "$CLAUDE_PROJECT_DIR"
  ferrule hook claude-code --wait 5m`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || len(args) > 2:
				return exactly("claude-code", "[DIR]")(cmd, args)
			case args[0] != hookClient:
				return fmt.Errorf("got the client %q, want %s: it is the only one with a hook that this knows", args[0], hookClient)
			}
			return nil
		},
		ValidArgs: []string{hookClient},
		RunE: p.do(func(cmd *cobra.Command, args []string) error {
			if f.wait < 0 || f.wait > maxWait {
				return usage("--wait: got %s, want 0 to %s", f.wait, maxWait)
			}
			return p.hook(cmd.Context(), f, args[1:])
		}),
	}
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "how long a question waits for approvals, a `TIME` (default the client asks)")
	return cmd
}

// hook answers one event. Whatever goes wrong blocks the call: also what never ends, of
// which nobody waits for the end. The client lets a call through whose hook it had to
// end itself.
func (p *program) hook(ctx context.Context, f hooking, dir []string) error {
	outlivePipe()
	bounded, cancel := context.WithTimeoutCause(ctx, f.within+f.wait, fmt.Errorf("it took longer than %s", f.within+f.wait))
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- p.hookEvent(bounded, f, dir) }()
	over := time.NewTimer(f.within + f.wait + min(givingUp, f.within))
	defer over.Stop()
	select {
	case err := <-answered:
		return err
	case <-over.C:
		return &status{statusUsage, fmt.Errorf("hook: the call is blocked: no decision within %s: is a disk, or a file that should be one, not answering?", f.within+f.wait)}
	}
}

// hookEvent answers one event.
func (p *program) hookEvent(bounded context.Context, f hooking, dir []string) error {
	text, err := p.hookInput(bounded)
	if err != nil {
		return p.answerHook(hookVerdict{Decision: hookDenies, Reason: "Ferrule could not read the call, so it is denied: " + err.Error()})
	}
	ev, err := readEvent(text)
	switch {
	case ev.Event == beforeUse && err != nil:
		return p.answerHook(hookVerdict{Decision: hookDenies, Reason: "Ferrule could not read the call, so it is denied: " + err.Error()})
	case err != nil:
		return &status{statusUsage, fmt.Errorf("hook: %w", err)}
	}
	switch ev.Event {
	case beforeUse:
		return p.answerHook(p.hookBefore(bounded, f, ev, dir))
	case afterUse, afterFailed:
		return p.hookAfter(bounded, ev, dir)
	}
	if ev.Tool != "" || ev.Event == "" { // it may be about a call
		return usage("hook: got the event %q, want %s, %s or %s: the call is blocked", ev.Event, beforeUse, afterUse, afterFailed)
	}
	p.complain(fmt.Sprintf("ferrule: hook: nothing is done about %q: it is for %s and %s", ev.Event, beforeUse, afterUse))
	return nil
}

// hookDir has the program work where the client's project is. That is never where the
// client's shell stands: calls change that, and the rules would be those of any folder.
func (p *program) hookDir(dir []string) error {
	at := p.env("CLAUDE_PROJECT_DIR")
	if len(dir) > 0 {
		at = dir[0]
	}
	switch {
	case at == "":
		return errors.New("got no folder, want the project's: CLAUDE_PROJECT_DIR is not set, so write its path behind `ferrule hook " + hookClient + "`")
	case !filepath.IsAbs(at):
		return fmt.Errorf("got the folder %s, want its whole path: calls change where this begins", at)
	}
	return p.in([]string{at})
}

// hookBefore decides about a call. It fails closed.
func (p *program) hookBefore(ctx context.Context, f hooking, ev hookEvent, dir []string) (v hookVerdict) {
	deny := func(err error) hookVerdict {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, context.Canceled):
			err = errors.New("it was ended before")
		case cause != nil:
			err = cause
		}
		return hookVerdict{Decision: hookDenies, Reason: "Ferrule could not decide, so the call is denied: " + strings.TrimSpace(err.Error())}
	}
	if err := p.hookDir(dir); err != nil {
		return deny(err)
	}
	if p.ofGateway(ev.Tool) {
		return hookVerdict{Decision: hookAllows, Reason: "Ferrule's gateway judges this call when it gets there."}
	}
	j := &hookJudge{p: p, ev: ev, f: f}
	o := hosting{names: []string{}, asks: true, prepare: j.prepare}
	if err := p.with(ctx, o, func(h *host) (err error) { v, err = j.decide(ctx, h); return err }); err != nil {
		return deny(err) // also where it could not be put on the record
	}
	return v
}

// hookJudge decides about one call.
type hookJudge struct {
	p  *program
	ev hookEvent
	f  hooking

	call  *clientCall
	asked *policy.Memory // where questions are put that the client asks; nil: they wait
	ran   *tool.Args     // what the tool was to run with: everything has said yes
}

// prepare sets what is different for a call that the client runs.
func (j *hookJudge) prepare(h *host) {
	j.call = newClientCall(j.p, h.config, j.ev)
	h.rt.AskReads = j.call.outside()
	delete(h.rt.Trust, hookClient) // a server of that name is another source
	if h.rt.Guard.Flow.Mode == "" {
		// What results said is not known here, where each call is another process:
		// each place that a call leads to would be asked for. It is put on the record.
		h.rt.Guard.Flow.Mode = flow.Shadow
	}
	if j.f.wait == 0 {
		// Nobody waits for the answer of this question: the client puts its own.
		j.asked = new(policy.Memory)
		h.rt.Inbox = j.asked
		h.rt.Journal = nil // nothing runs here that a crash could cut off
	}
}

// decide has the runtime judge the call as any other. What it runs in the end only
// notes that it may.
func (j *hookJudge) decide(ctx context.Context, h *host) (hookVerdict, error) {
	t, err := j.call.tool(func(a tool.Args) { j.ran = &a })
	if err != nil {
		return hookVerdict{}, err
	}
	if err := h.rt.Set(j.call.source(), t); err != nil {
		return hookVerdict{}, err
	}
	name := ""
	for r := range h.rt.All() {
		if r.Source.Name == hookClient {
			name = r.Name
		}
	}
	given := tool.Call{ID: j.ev.Use, Name: name, Input: j.call.input()}
	options := ferrule.TurnOptions{HandBack: true}
	caller := tool.Caller{Session: j.ev.Session, Client: hookClient, Agent: j.ev.Agent, Attended: true}
	if j.f.wait > 0 {
		caller.Run = leftRun
		left, err := h.left(ctx, j.p.now(), hookClient, j.ev.Session, name, string(given.Input))
		if err != nil {
			return hookVerdict{}, err
		}
		if left != nil {
			options.Number, given.ID = left.Turn, left.CallID // it is that call which goes on
		}
	}
	view := h.rt.Session(caller).View(ctx)
	turn := view.Begin(ctx, options)
	turn.Add(given)
	r := turn.Wait()[0]
	if r.Err != nil && r.Err.Kind == tool.Suspended && j.f.wait > 0 {
		if r, err = j.await(ctx, h, view, turn.Number(), given, r); err != nil {
			return hookVerdict{}, err
		}
	}
	return j.verdict(ctx, r)
}

// await waits until the question of a call is answered, and goes on with it.
func (j *hookJudge) await(ctx context.Context, h *host, view *ferrule.View, number int, given tool.Call, r tool.Result) (tool.Result, error) {
	answered := make(chan string, 16)
	stop := h.kept.Watch(func(id string) {
		select {
		case answered <- id:
		default:
		}
	})
	defer stop()
	over := time.NewTimer(j.f.wait)
	defer over.Stop()
	for {
		waiting, err := h.kept.Pending(ctx)
		if err != nil {
			return r, err
		}
		i := slices.IndexFunc(waiting, func(q policy.Question) bool {
			return q.Caller.Session == j.ev.Session && q.Caller.Client == hookClient && q.Turn == number
		})
		if i < 0 { // it has its answer
			return view.DoTurn(ctx, ferrule.TurnOptions{HandBack: true, Number: number}, given)[0], nil
		}
		select {
		case <-ctx.Done():
			return r, context.Cause(ctx)
		case <-over.C:
			return tool.Result{Err: &tool.Error{
				Kind: tool.Pending, Text: "Waiting for a person. Call again with the same input once it is allowed.",
				Detail: fmt.Sprintf("nobody has answered within %s: `%s`", j.f.wait, howAllowed(waiting[i].ID, false)),
			}}, nil
		case <-answered:
		}
	}
}

// verdict is what a result says to the client.
func (j *hookJudge) verdict(ctx context.Context, r tool.Result) (hookVerdict, error) {
	switch {
	case r.Err != nil && r.Err.Kind == tool.Suspended && j.asked != nil:
		return j.ask(ctx)
	case r.Err != nil:
		return hookVerdict{Decision: hookDenies, Reason: "Ferrule: " + hookReason(r.Err)}, nil
	case j.ran == nil: // a mode, or a hook, in which nothing runs
		return hookVerdict{Decision: hookDenies, Reason: "Ferrule did not let it run: " + strings.TrimSpace(tool.TextOf(r.Content))}, nil
	case j.call.personal():
		return hookVerdict{}, nil // the client's own question must still be put
	}
	return hookVerdict{Decision: hookAllows, Reason: "Ferrule allows it.", Input: j.changed(j.ran.Text())}, nil
}

// ask has the client ask its user, where it does.
func (j *hookJudge) ask(ctx context.Context) (hookVerdict, error) {
	list, err := j.asked.Pending(ctx)
	if err != nil {
		return hookVerdict{}, err
	}
	if len(list) == 0 {
		return hookVerdict{}, errors.New("a person must be asked, and the question is gone")
	}
	q := list[0]
	why := "Ferrule asks: " + cmp.Or(q.Reason, "a person must allow it")
	if q.Rule != "" {
		why += " (" + q.Rule + ")"
	}
	switch {
	case j.call.personal():
		return hookVerdict{}, nil // it is a question to the user
	case !asksItsUser(j.ev.Mode):
		return hookVerdict{Decision: hookDenies, Reason: fmt.Sprintf("%s. A person must be asked, and in the mode %q Claude Code asks nobody: allow it with a rule in ferrule.yaml, or give the hook --wait and answer with `ferrule approvals`.", why, j.ev.Mode)}, nil
	}
	return hookVerdict{Decision: hookAsks, Reason: why + ".", Input: j.changed(q.Input)}, nil
}

// asksItsUser reports whether the client puts a question to its user when a hook wants
// that. In other modes, and in those that nobody knows yet, it may go on without.
func asksItsUser(mode string) bool {
	return mode == "default" || mode == "acceptEdits" || mode == "plan"
}

// changed are arguments that are others than those given; nil: they are the same.
func (j *hookJudge) changed(now string) []byte {
	now = withoutPlace(now)
	if given := cmp.Or(string(j.ev.Input), "{}"); schema.Canonical(now) == schema.Canonical(given) {
		return nil
	}
	return []byte(now)
}

// hookReason says why a call does not run, and by which rule.
func hookReason(e *tool.Error) string {
	text := cmp.Or(strings.TrimSpace(e.Text), string(e.Kind))
	detail := strings.TrimSuffix(strings.TrimSpace(detailOf(e)), ": "+text)
	if detail != "" && !strings.Contains(text, detail) {
		text += " (" + detail + ")"
	}
	return text
}
