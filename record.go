package ferrule

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/guard"

	"github.com/ferrule-dev/ferrule/tool"
)

// Recorder writes down each call and the result that it was given, as one line
// of JSON: what [ReadReplay] reads. A line is written in one Write, when a turn
// hands its results out, and holds them as the model gets them. Of a call that
// was handed back (the kind suspended) nothing is written until it is over.
//
// A recording holds arguments, results and the operator's texts as they are.
// Where a tool says that its arguments or its results are [tool.Secret],
// [withheld: secret] stands for them, and for the text of an error: it may quote
// either. Arguments that were sent to no tool that is registered are recorded.
//
// After a Write that failed nothing more is written, so that what there is can
// be read: give each process a writer of its own. Calls go on. Err tells why,
// and the observer is told once.
//
// All methods are safe for concurrent use, and one Recorder may serve many
// runtimes.
type Recorder struct {
	mu   sync.Mutex
	w    io.Writer
	line []byte // room that is used again
	err  error
}

// NewRecorder makes a Recorder that writes to w, which returns soon: a turn
// waits for it.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{w: w}
	if w == nil {
		r.err = errors.New("record: got no writer")
	}
	return r
}

// Err is why nothing is written any more; nil: nothing failed.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// maxSpareLine is how much room a Recorder keeps for the next line.
const maxSpareLine = 64 << 10

// write writes a line down, or says why nothing is written any more.
func (r *Recorder) write(l *line) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	l.at = time.Now()
	r.line = l.append(r.line[:0])
	r.err = errGoexit // should the writer end this goroutine, a half line may stand there
	n, err := r.send()
	if err == nil && n != len(r.line) {
		err = io.ErrShortWrite
	}
	if r.err = err; cap(r.line) > maxSpareLine {
		r.line = nil
	}
	return err
}

// send is the writer's Write: a panic is its error.
func (r *Recorder) send() (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = thrown(p)
		}
	}()
	return r.w.Write(r.line)
}

// recordResult writes down what the call in place i is given, if it is final and
// was not given before: a turn that goes on repeats what the first one said. Who
// hands results out calls it once for each, in order and without the mutex.
func (t *Turn) recordResult(i int, res tool.Result) {
	r := t.set.record
	if r == nil || res.Err != nil && res.Err.Kind == tool.Suspended {
		return
	}
	t.mu.Lock()
	c := t.calls[i]
	t.mu.Unlock()
	if c.recorded != nil && t.set.replay == nil {
		return
	}
	caller := &c.first.Caller
	l := line{
		session: sessionKey{caller.Tenant, caller.Principal, caller.Session}, agent: caller.Agent,
		turn: t.number, place: i, call: c.asGiven(), result: res,
	}
	l.isJSON = c.first.Args.Text() == string(c.input) && len(c.input) > 0
	if res.Err != nil {
		l.fatal = endsRun(res.Err)
	}
	c.withhold(&l)
	c.scrubLine(&l)
	if err := r.write(&l); err != nil {
		t.set.find(Finding{"Runtime.Record", fmt.Sprintf("nothing more is recorded: %v", err)}) // fmt stands an error that panics
	}
}

// endsRun reports whether the tool asked the host to end the run.
func endsRun(err *tool.Error) bool {
	fatal, _ := safely(func() (bool, error) { // methods of the tool's error are called
		o := (*tool.Outcome)(nil)
		return errors.As(err, &o) && o != nil && o.Fatal, nil
	})
	return fatal
}

// withheld stands in a record for what is secret.
const withheld = "[withheld: secret]"

// withhold takes out of a line what its tool says is secret, and what was taken
// out of the recording that it is replayed from.
func (c *call) withhold(l *line) {
	in, out := c.refused(guard.Store)
	if in != "" {
		l.call.Input, l.isJSON, l.withheld = json.RawMessage(in), false, true
	}
	if out != "" && (l.result.Err == nil || len(l.result.Content) > 0) {
		l.result.Content = []tool.Content{tool.Text(out)}
	}
	if e := l.result.Err; e != nil && (in != "" || out != "") {
		instead := cmp.Or(out, in)
		l.result.Err = &tool.Error{Kind: e.Kind, Text: instead, Detail: instead, RetryAfter: e.RetryAfter}
	}
}

// refused is what stands for the arguments and the result of a call where they go
// to a sink that does not accept them; "": it does.
func (c *call) refused(by guard.Sink) (in, out string) {
	e, g := c.entry, c.turn.set.guard
	if e == nil { // cut off, or not in this view: its input may be meant for a tool all the same
		e = c.turn.view.session.rt.reg.find(c.called())
	}
	if e != nil {
		if s := e.tool.InputSensitivity; !g.Accepts(by, s) {
			in = guard.Withheld(s)
		}
		if s := e.tool.OutputSensitivity; !g.Accepts(by, s) {
			out = guard.Withheld(s)
		}
	}
	if in == "" && c.replayed != nil && c.replayed.withheld {
		in = withheld
	}
	return in, out
}

// secret reports whether the arguments and the result of a call are.
func (c *call) secret() (in, out bool) {
	e := c.entry
	if e == nil { // cut off, or not in this view: its input may be meant for a tool all the same
		e = c.turn.view.session.rt.reg.find(c.called())
	}
	if e != nil {
		in, out = e.tool.InputSensitivity >= tool.Secret, e.tool.OutputSensitivity >= tool.Secret
	}
	return in || c.replayed != nil && c.replayed.withheld, out
}
