package crash_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// evidence is all that is known of a script that was run to its end.
type evidence struct {
	turns      [][]step
	transcript []entry
	runs       []*ran
	kills      []sight
	open       []string        // calls whose records had not ended at the end
	ended      map[string]bool // calls, by Ferrule's id, whose end is in the log
}

// sight is what was seen after a kill.
type sight struct {
	life   int
	opened bool // the store was open
	lines  int  // of the effects
	// finished are calls whose results were in the transcript, or that the
	// journal had as done; running those that it had as running.
	finished, running map[string]bool
	attempts          map[string]int // of those that were running
	head              *audit.Head    // of the log
}

// head is what the log was at the last kill; nil: there was none.
func (e *evidence) head() *audit.Head {
	if len(e.kills) == 0 {
		return nil
	}
	return e.kills[len(e.kills)-1].head
}

// judge says what the program did that it must never do.
func (e *evidence) judge() []string {
	j := &judge{evidence: e, byLine: make(map[string][]*ran)}
	for _, r := range e.runs {
		j.byLine[r.line] = append(j.byLine[r.line], r)
	}
	j.results()
	j.calls()
	j.once()
	j.order()
	j.foretold()
	j.left()
	return j.faults
}

type judge struct {
	*evidence
	byLine map[string][]*ran
	got    map[string]outcome // by call
	faults []string
}

func (j *judge) fault(format string, args ...any) {
	j.faults = append(j.faults, fmt.Sprintf(format, args...))
}

func (j *judge) all() []step { return slices.Concat(j.turns...) }

// results: each turn has its results once, as many as it has calls, in order.
func (j *judge) results() {
	j.got = make(map[string]outcome)
	at, number, ids := 0, 0, make(map[string]bool)
	var open *entry
	for _, e := range j.transcript {
		switch {
		case e.Life > 0: // see foretold
			continue
		case e.Results == nil && open == nil && e.At == at && e.Turn > number:
			open, number = &e, e.Turn
			continue
		case e.Results == nil || open == nil || open.Turn != e.Turn || e.At != at:
			j.fault("transcript: turn %d of the script has the number %d, want turn %d and a number above %d", e.At, e.Turn, at, number)
			return
		case len(e.Results) != len(j.turns[at]):
			j.fault("turn %d: got %d results, want %d", at, len(e.Results), len(j.turns[at]))
			return
		}
		for i, s := range j.turns[at] {
			o := e.Results[i]
			if o.CallID != s.ID {
				j.fault("%s: got the result of %q in its place", s.ID, o.CallID)
			}
			if o.ID == "" || ids[o.ID] {
				j.fault("%s: got the id %q, want one of its own", s.ID, o.ID)
			}
			if !j.ended[o.ID] {
				j.fault("%s: has a result, and its end is not in the log", s.ID)
			}
			ids[o.ID] = true
			j.got[s.ID] = o
		}
		open = nil
		at++
	}
	if at != len(j.turns) {
		j.fault("got results of %d turns, want %d", at, len(j.turns))
	}
}

// calls: what is said of each call is what happened.
func (j *judge) calls() {
	succeeded := make(map[string]string) // the text of the success of each key
	for _, s := range j.all() {
		o, ok := j.got[s.ID]
		if !ok {
			continue
		}
		runs := j.byLine[s.effect()]
		switch {
		case s.clash():
			if o.Kind == "" || o.Kind == tool.OutcomeUnknown || len(runs) > 0 {
				j.fault("%s %s has the key of another call and ran %d times; got %q %s", s.Tool, s.ID, len(runs), o.Kind, o.Text)
			}
		case o.Kind == tool.OutcomeUnknown:
			j.unknown(s, runs)
		case s.Fail && o.Kind != tool.Failed, !s.Fail && o.Kind != "":
			j.fault("%s %s: got %q %s [%s]", s.Tool, s.ID, o.Kind, o.Text, o.Detail)
		case !slices.ContainsFunc(runs, func(r *ran) bool { return r.ended >= 0 && strings.Contains(o.Text, said(r.line, r.nonce)) }):
			j.fault("%s %s: says %q, but no such run came to its end", s.Tool, s.ID, o.Text)
		}
		if s.trait().keyed && o.Kind == "" {
			if first, ok := succeeded[s.Line]; ok && first != o.Text {
				j.fault("%s %s: one effect was had twice: %q and %q", s.Tool, s.ID, first, o.Text)
			}
			succeeded[s.Line] = o.Text
		}
	}
}

// unknown: only a plain call, and only one that a kill cut off.
func (j *judge) unknown(s step, runs []*ran) {
	cut := false
	for _, k := range j.kills {
		cut = cut || k.running[s.ID]
	}
	switch {
	case s.repeats():
		j.fault("%s %s: got outcome_unknown, but it can run again", s.Tool, s.ID)
	case !cut:
		j.fault("%s %s: got outcome_unknown, but no kill cut it off (it ran %d times)", s.Tool, s.ID, len(runs))
	}
}

// once: a plain call runs once, no call twice in one process, and none again once
// it was finished.
func (j *judge) once() {
	for _, line := range slices.Sorted(maps.Keys(j.byLine)) {
		runs := j.byLine[line]
		lives := make(map[int]bool)
		for _, r := range runs {
			if lives[r.life] {
				j.fault("%s: ran twice in process %d", line, r.life)
			}
			lives[r.life] = true
		}
		at := slices.IndexFunc(j.all(), func(s step) bool { return s.effect() == line })
		if at < 0 {
			j.fault("%s: ran, but nobody asked for it", line)
			continue
		}
		if s := j.all()[at]; !s.repeats() && len(runs) > 1 {
			j.fault("%s %s: a plain call ran %d times", s.Tool, s.ID, len(runs))
		}
	}
	for _, s := range j.all() {
		for _, k := range j.kills {
			if !k.finished[s.ID] {
				continue
			}
			for _, r := range j.byLine[s.effect()] {
				if r.began >= k.lines {
					j.fault("%s %s: was finished when process %d was killed, and ran again in process %d", s.Tool, s.ID, k.life, r.life)
				}
			}
		}
	}
}

// order: of two calls that conflict, the later begins when the earlier has ended,
// and the earlier does not run once more after it. Reads may.
func (j *judge) order() {
	for _, turn := range j.turns {
		for i, first := range turn {
			for _, second := range turn[i+1:] {
				if !first.conflicts(second) || first.effect() == second.effect() {
					continue
				}
				j.pair(first, second)
			}
		}
	}
}

func (j *judge) pair(first, second step) {
	for _, b := range j.byLine[second.effect()] {
		if j.earlier(second, b) {
			continue
		}
		for _, a := range j.byLine[first.effect()] {
			switch {
			case j.earlier(first, a):
			case a.life == b.life && (a.ended < 0 || a.ended > b.began):
				j.fault("%s %s and %s %s conflict, and ran side by side, or in the wrong order, in process %d", first.Tool, first.ID, second.Tool, second.ID, a.life)
			case a.life > b.life && !first.trait().reads:
				j.fault("%s %s ran again in process %d, after %s %s which conflicts with it ran in process %d", first.Tool, first.ID, a.life, second.Tool, second.ID, b.life)
			}
		}
	}
}

// earlier reports whether a run was for another call of the same key, which
// stands earlier.
func (j *judge) earlier(s step, r *ran) bool {
	if !s.trait().keyed {
		return false
	}
	for _, o := range j.all() {
		if o.ID == s.ID {
			return false
		}
		if o.effect() == r.line {
			return true
		}
	}
	return false
}

// foretold: what a process was told of the calls of a turn is what became of them.
func (j *judge) foretold() {
	steps := make(map[string]step)
	for _, s := range j.all() {
		steps[s.ID] = s
	}
	for _, e := range j.transcript {
		for id, fate := range e.Left {
			s, ended := steps[id], j.got[id].Kind != tool.OutcomeUnknown
			again := slices.ContainsFunc(j.byLine[s.effect()], func(r *ran) bool { return r.life >= e.Life })
			switch {
			case fate == durable.FateDone && ended && !again:
			case fate == durable.FateAgain && ended && s.repeats():
			case fate == durable.FateUnknown && !ended && !again:
			default:
				j.fault("%s %s: process %d was told %q; it ran then: %v; its outcome is known: %v", s.Tool, id, e.Life, fate, again, ended)
			}
		}
	}
}

// left: what the journal leaves to a person is what the model was told is not
// known.
func (j *judge) left() {
	var want []string
	for _, s := range j.all() {
		if j.got[s.ID].Kind == tool.OutcomeUnknown {
			want = append(want, s.ID)
		}
	}
	got := slices.Sorted(slices.Values(j.open))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		j.fault("the journal has open records of %q, want those of %q, whose outcome is unknown", got, want)
	}
}
