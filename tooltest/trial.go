package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// Trial tries whether a tool keeps its word: it runs it through every gate, as
// [Do] does, and reports each claim that does not hold.
//
//   - ReadOnly: a run changed the directory.
//   - Idempotent: a second run of the same call changed it again. What the runs
//     return is not compared.
//   - Touches: a run changed what the call does not claim to write. A directory
//     that was made on the way to a claimed path is none.
//   - Parallel: a run panicked beside others. The race detector, where it is on,
//     sees more.
//   - Cooperative: a function was still running 1 s after its context had ended.
//   - Outcome.Suspend, which says that nothing was done yet: the directory changed.
//   - Output: what was returned does not fit.
//
// It also reports functions that write to their input; panics; functions beside
// Run that change the directory; and ClaimsOf, Facts and Scopes that fail on input
// that Validate accepts. Local and Reversible cannot be tried.
//
// Content, names, modes and targets of links count as changes, times do not. What a
// goroutine does after Run has returned is not seen.
//
// Run is called up to six times with each input, so what it reaches outside of
// the directory should be a stand-in. Each call has 10 s. A function that does not
// return cannot be ended: it is reported and left running, and the trial ends.
type Trial struct {
	Tool *tool.Tool
	// Inputs are arguments, as JSON text. The tool's examples are tried too.
	Inputs []string
	// Dir is watched, with all that is below. It is a small one, made for the
	// trial: it is read again and again, kept in memory, and put back before each
	// check and at the end. "": nothing is watched, and claims about it are not
	// tried.
	Dir string
	// Reset puts back what the tool changes elsewhere, before each check and at
	// the end. Nil: there is no such thing.
	Reset func()
	// Answers are what a person says to what each call asks with Outcome.Suspend,
	// one after another.
	Answers []string
	// Caller is for whom the calls are made. A person is always there.
	Caller tool.Caller
}

// Run reports every fault as an error of the test.
func (tr Trial) Run(t testing.TB) {
	t.Helper()
	for _, fault := range tr.Faults(t.Context()) {
		t.Error(fault)
	}
}

// Faults are what the tool does not keep, each in a sentence; none: it keeps all
// that could be tried. Faults of the trial itself, such as an input that does not
// fit the schema, begin with the word trial.
func (tr Trial) Faults(ctx context.Context) []string {
	t := &trial{Trial: tr}
	if err := t.open(); err != nil { //nolint:contextcheck // registering a tool has none
		return []string{"trial: " + err.Error()}
	}
	t.try(ctx)
	if t.fresh(); !t.over { // what was left running may still hold it
		if err := t.stage.close(ctx); err != nil {
			t.fault("trial: %v", err)
		}
	}
	return t.faults
}

const (
	// patience is how long one function has in a trial.
	patience = 10 * time.Second
	// soon is how long after the end of its context a function of a cooperative
	// tool may run: a runtime gives a call up then.
	soon = time.Second
	// headStart is how long a function runs before its context ends.
	headStart = 50 * time.Millisecond
)

// trial is a Trial under way.
type trial struct {
	Trial
	tool   *tool.Tool // checked
	seen   *witness
	stage  *stage
	was    folder   // the directory as it was given
	at     []string // the directory, in each spelling
	inputs []tool.Args

	faults  []string
	over    bool   // no more can be tried
	reached bool   // some call came to Run
	worked  bool   // and did not fail there
	failure string // else how
	missed  string // why another one did not
}

// open readies everything but the inputs.
func (t *trial) open() (err error) {
	if t.Tool == nil {
		return errors.New("got no tool")
	}
	if t.tool, err = t.Tool.Check(); err != nil {
		return err
	}
	if t.Dir != "" {
		if t.Dir, err = filepath.Abs(t.Dir); err != nil {
			return err
		}
		if t.was, err = look(t.Dir); err == nil && t.was == nil {
			err = fmt.Errorf("%s: no such directory", t.Dir)
		}
		if err != nil {
			return err
		}
		t.at = []string{t.Dir}
		if led, err := filepath.EvalSymlinks(t.Dir); err == nil && led != t.Dir {
			t.at = append(t.at, led)
		}
	}
	t.seen = &witness{tool: t.tool, dir: t.Dir}
	t.stage, err = newStage(t.seen.watched(), t.Caller, t.Answers)
	return err
}

func (t *trial) try(ctx context.Context) {
	if t.admit(); len(t.inputs) == 0 {
		t.fault("trial: nothing was tried: give it Inputs, or the tool Examples")
		return
	}
	var beside []tool.Args
	for _, in := range t.inputs {
		if ctx.Err() != nil && !t.over {
			t.fault("trial: stopped: %v", context.Cause(ctx))
			t.over = true
		}
		final, valid := t.see(ctx, in)
		if valid {
			t.stop(ctx, final)
		}
		if t.run(ctx, in) {
			beside = append(beside, in)
		}
		if t.over {
			return
		}
	}
	for some := range slices.Chunk(beside, stageLimit/2) {
		t.runBeside(ctx, some)
	}
	switch {
	case !t.reached:
		t.fault("trial: no call came to Run: %s", t.missed)
	case !t.worked && len(t.faults) == 0:
		t.fault("trial: Run failed with every input, so that little was tried: %s", t.failure)
	}
}

// admit takes the inputs and the examples, each once.
func (t *trial) admit() {
	texts := slices.Clone(t.Inputs)
	for _, e := range t.tool.Examples {
		texts = append(texts, string(e.Input))
	}
	for i, text := range texts {
		if slices.Contains(texts[:i], text) {
			continue
		}
		in, err := t.tool.Admit(json.RawMessage(text))
		if err != nil {
			t.fault("trial: input %s: %s", short(text), tool.AsError(err).Text)
			continue
		}
		t.inputs = append(t.inputs, in)
	}
}

// fresh puts everything back.
func (t *trial) fresh() {
	if t.Dir != "" {
		if err := t.was.restore(t.Dir); err != nil {
			t.fault("trial: the directory could not be put back: %v", err)
			t.over = true
		}
	}
	if t.Reset != nil {
		t.Reset()
	}
}

// run tries what a call claims, and reports whether it may be run beside others.
func (t *trial) run(ctx context.Context, in tool.Args) (parallel bool) {
	if t.over {
		return false
	}
	t.fresh()
	res, r := t.do(ctx, in)
	if r == nil {
		return false
	}
	t.reached = true
	if res.Err == nil || res.Err.Kind != tool.Failed {
		t.worked = true
	} else {
		t.failure = fmt.Sprint(res.Err)
	}
	c := r.claims
	switch outside := slices.DeleteFunc(slices.Clone(r.changes), func(ch change) bool { return t.claimed(c, ch) }); {
	case len(r.changes) == 0:
	case r.asks:
		t.faultOf(in, "asks with Outcome.Suspend, which says that nothing was done yet, but Run changed the directory: %s", list(r.changes))
	case c.ReadOnly:
		t.faultOf(in, "claims ReadOnly, but Run changed the directory: %s", list(r.changes))
	case c.Touches != nil && len(outside) > 0:
		t.faultOf(in, "claims Touches, but Run changed what it does not claim to write: %s", list(outside))
	}
	if res.Err != nil && res.Err.Kind == tool.InvalidOutput {
		t.faultOf(in, "what Run returned does not fit the output schema: %v", res.Err)
	}
	// A run that failed and did nothing leaves it to the second to do all.
	if c.Idempotent && !c.ReadOnly && (res.Err == nil || len(r.changes) > 0) {
		if _, again := t.do(ctx, in); again != nil && len(again.changes) > 0 {
			t.faultOf(in, "claims Idempotent, but a second run changed the directory again: %s", list(again.changes))
		}
	}
	return c.Overlaps() && r.panicked == nil
}

// do makes one call. What Run did in it is nil if it did not come so far.
func (t *trial) do(ctx context.Context, in tool.Args) (tool.Result, *ran) {
	t.seen.next(nil)
	res := t.stage.do(ctx, in.Text())[0]
	runs, stuck := t.seen.seen()
	if stuck {
		t.leftBehind(in, "Run did not return within %s", t.ownTime())
		return res, nil
	}
	if len(runs) == 0 {
		t.missed = fmt.Sprint(res.Err)
		return res, nil
	}
	for i, r := range runs {
		switch {
		case r.panicked != nil:
			t.faultOf(in, "Run panicked: %v", r.panicked)
		case r.wrote:
			t.faultOf(in, "Run wrote to its input")
		}
		if r.blind != nil {
			t.fault("trial: the directory could not be read: %v", r.blind)
			t.over = true
		}
		if r.asks && len(r.changes) > 0 && i < len(runs)-1 {
			return res, &runs[i] // it is this one that does not keep its word
		}
	}
	if res.Err != nil && res.Err.Kind == tool.Suspended {
		t.fault("trial: input %s: the tool asks %q, and Answers has no answer to it", short(in.Text()), res.Err.Text)
	}
	return res, &runs[len(runs)-1]
}

// runBeside runs calls that may overlap, each twice, in one turn.
func (t *trial) runBeside(ctx context.Context, some []tool.Args) {
	if t.over {
		return
	}
	t.fresh()
	var texts []string
	for _, in := range some {
		texts = append(texts, in.Text(), in.Text())
	}
	t.seen.next(newMeeting(len(texts)))
	t.stage.do(ctx, texts...)
	runs, stuck := t.seen.seen()
	if stuck {
		t.leftBehind(some[0], "Run did not return within %s beside other calls", t.ownTime())
		return
	}
	for _, r := range runs {
		if r.panicked != nil {
			t.fault("%s %s: claims that it may run beside other calls, but Run panicked there: %v", t.tool.Name, short(r.input), r.panicked)
		}
	}
}

// ownTime is how long a run had.
func (t *trial) ownTime() time.Duration {
	d, ok := t.tool.RunTime()
	if !ok || d > patience {
		d = patience
	}
	return d + soon
}

// claimed reports whether a call claims to write what changed.
func (t *trial) claimed(c tool.Claims, ch change) bool {
	for _, dir := range t.at {
		changed := tool.Access{Resource: resource(dir, ch.name)}
		for _, a := range c.Touches {
			if a.Write && (a.Covers(changed) || ch.made && changed.Covers(a)) {
				return true
			}
		}
	}
	return false
}

// resource is how claims name a file.
func resource(dir, name string) string {
	dir = filepath.ToSlash(dir)
	if vol := filepath.VolumeName(dir); vol != "" { // file:/c:/a
		dir = "/" + strings.ToLower(vol) + dir[len(vol):]
	}
	return "file:" + path.Join(dir, name)
}

func (t *trial) fault(format string, args ...any) {
	if f := fmt.Sprintf(format, args...); !slices.Contains(t.faults, f) {
		t.faults = append(t.faults, f)
	}
}

func (t *trial) faultOf(in tool.Args, format string, args ...any) {
	t.fault("%s %s: %s", t.tool.Name, short(in.Text()), fmt.Sprintf(format, args...))
}

// leftBehind ends the trial: what still runs could do anything at any time.
func (t *trial) leftBehind(in tool.Args, format string, args ...any) {
	t.faultOf(in, "%s; it was left running, and nothing more was tried", fmt.Sprintf(format, args...))
	t.over = true
}

// short is a text that fits into a sentence.
func short(text string) string {
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
