package agent

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// dispatched are the calls of one answer on their way.
type dispatched struct {
	live   *Live
	view   *ferrule.View
	number int // to go on with; 0: a new one
	turn   *ferrule.Turn
	added  int
	calls  []tool.Call // that wait for DoTurn, where nobody needs the turn
}

func (d *dispatched) options() ferrule.TurnOptions {
	l := d.live
	o := ferrule.TurnOptions{Number: d.number, HandBack: l.agent.HandBack, Hooks: l.agent.CallHooks}
	if l.events != nil {
		o.Observe = l.observe
	}
	return o
}

// add begins calls while the model talks.
func (d *dispatched) add(calls ...tool.Call) error {
	if len(calls) == 0 {
		return nil
	}
	d.added += len(calls)
	return d.begin(slices.Clone(calls))
}

// addLast adds calls after which no more come.
func (d *dispatched) addLast(calls ...tool.Call) error {
	l := d.live
	if d.turn == nil && d.number == 0 && l.agent.Keep == nil && !l.agent.HandBack && l.events == nil {
		d.calls = calls // nobody can know of the turn before it is over
		return nil
	}
	return d.add(calls...)
}

// begin begins calls, which are its own. The transcript, which holds them already, is
// kept before.
func (d *dispatched) begin(calls []tool.Call) error {
	l := d.live
	if d.turn == nil {
		d.turn = d.view.Begin(l.calling, d.options())
		l.mu.Lock()
		l.turn = d.turn
		spoken := l.spoken != nil
		l.mu.Unlock()
		if spoken {
			d.turn.Interrupt()
		}
	}
	l.t.Open.Number = d.turn.Number()
	if err := l.keep(l.calling); err != nil {
		return err
	}
	for i := range calls {
		l.emit(Event{Kind: Called, Turn: d.turn.Number(), Call: &calls[i], Silent: l.tools.of(calls[i].Name).silent})
	}
	d.turn.Add(calls...)
	return nil
}

// wait waits for all results, and tells meanwhile what happens.
func (d *dispatched) wait() []tool.Result {
	l := d.live
	if d.turn == nil {
		return d.view.DoTurn(l.calling, d.options(), d.calls...)
	}
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.turn = nil
	}()
	if l.yield == nil {
		return d.turn.Wait()
	}
	over := make(chan []tool.Result, 1)
	go func() { over <- d.turn.Wait() }()
	for {
		l.drain()
		select {
		case results := <-over:
			l.drain()
			return results
		case <-l.events.more:
		}
	}
}

// observe takes what happens to calls, from any goroutine.
func (l *Live) observe(e audit.Event) {
	out := Event{Agent: l.agent.name(), Inside: l.inside, Turn: e.Turn, Text: e.Text}
	switch e.Kind {
	case audit.Changed:
		out.Kind, out.Text = Changed, e.By
	case audit.Started:
		out.Kind, out.Text = Started, ""
	case audit.Updated:
		out.Kind = Updated
		if e.Update != nil {
			u := *e.Update
			out.Update = &u
		}
	case audit.Asked:
		out.Kind, out.Question = Waits, e.Question
	case audit.Answered:
		out.Kind, out.Question = Answered, e.Question
	case audit.WentOn:
		out.Kind = Aside
	case audit.Joined:
		out.Kind, out.Text = Joined, ""
	case audit.Ended:
		out.Kind, out.Took, out.Text = Ended, e.Took, ""
		if e.Result != nil {
			name := ""
			if e.Request != nil {
				name = e.Request.CalledAs
			}
			r := provider.ResultOf(e.Result.CallID, name, *e.Result)
			out.Result = &r
			if e.Result.Err != nil {
				out.Failure = e.Result.Err.Kind
			}
		}
	default:
		return
	}
	if r := e.Request; r != nil {
		out.Own, out.Silent = r.ID, r.Tool != nil && r.Tool.Silent
		out.Call = &tool.Call{ID: r.CallID, Name: r.CalledAs}
		if out.Kind == Changed {
			out.Call.Input = json.RawMessage(cmp.Or(e.Args, r.Args.Text())) // as records may hold it, where there is one
		}
	}
	l.events.put(out)
}
