package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// witness stands in the place of a tool's Run and sees what each run does.
type witness struct {
	tool *tool.Tool
	dir  string // "": none is watched

	mu     sync.Mutex
	inside int // runs that have not returned
	runs   []ran
	beside *meeting // of runs side by side: what one of them changes is not known
}

// ran is what one run did.
type ran struct {
	input    string
	claims   tool.Claims // of the call
	changes  []change
	wrote    bool  // to its input
	asks     bool  // it wants an answer
	panicked error // nil: it did not
	blind    error // why the directory could not be looked at
}

// watched is the tool with the witness in it. A run has no longer than patience.
func (w *witness) watched() *tool.Tool {
	c := *w.tool
	c.Run = w.run
	if d, ok := c.RunTime(); !ok || d > patience {
		c.Timeout = patience
	}
	return &c
}

// next forgets what was seen. The runs that follow meet, if there are several.
func (w *witness) next(beside *meeting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs, w.beside = nil, beside
}

// seen is what was seen since, and whether a run has not returned.
func (w *witness) seen() (runs []ran, stuck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs, w.inside > 0
}

func (w *witness) run(ctx context.Context, a tool.Args) (res tool.Result, err error) {
	w.mu.Lock()
	w.inside++
	beside := w.beside
	w.mu.Unlock()
	r := ran{input: a.Text(), claims: tool.From(ctx).Request().Claims}
	defer func() { // also where the tool ends its goroutine
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inside--
		w.runs = append(w.runs, r)
	}()
	if beside != nil {
		beside.wait()
	}
	var before, after folder
	watches := w.dir != "" && beside == nil
	if watches {
		if before, r.blind = look(w.dir); r.blind != nil {
			return res, r.blind
		}
	}
	own := alone(w.tool, a)
	err = safely(func() (err error) {
		res, err = w.tool.Run(ctx, own)
		return err
	})
	if p := (*panicked)(nil); errors.As(err, &p) {
		r.panicked = p
	}
	r.wrote = !w.tool.Intact(own)
	if o := (*tool.Outcome)(nil); errors.As(err, &o) && o != nil {
		r.asks = o.Suspend != ""
	}
	if watches {
		after, r.blind = look(w.dir)
		r.changes = before.changes(after)
	}
	return res, err
}

// alone are the same arguments for one function only: what it writes to them is
// then seen. A schema of one session may admit what the tool's own does not.
func alone(tl *tool.Tool, a tool.Args) tool.Args {
	if own, err := tl.Readmit(a, json.RawMessage(a.Text())); err == nil {
		return own
	}
	return a
}

// meeting lets runs wait for each other, so that they are really side by side.
type meeting struct {
	mu     sync.Mutex
	absent int
	all    chan struct{}
}

// meetingTime is how long a run waits for others: they may have to wait for it.
const meetingTime = 20 * time.Millisecond

func newMeeting(n int) *meeting { return &meeting{absent: n, all: make(chan struct{})} }

func (m *meeting) wait() {
	m.mu.Lock()
	if m.absent--; m.absent == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	late := time.NewTimer(meetingTime)
	defer late.Stop()
	select {
	case <-m.all:
	case <-late.C:
	}
}

// panicked is what a function threw.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprint(p.value) }

// safely calls a function of the tool: a panic is its error.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicked{r}
		}
	}()
	return f()
}

// within calls f on a goroutine of its own and waits so long for it. One that
// does not return is left behind.
func within(d time.Duration, f func() error) (back bool, err error) {
	done := make(chan error, 1)
	go func() {
		err := errors.New("it ended its goroutine")
		defer func() { done <- err }()
		err = safely(f)
	}()
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case err := <-done:
		return true, err
	case <-late.C:
		return false, nil
	}
}
