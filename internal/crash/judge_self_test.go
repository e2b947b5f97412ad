package crash_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// innocent is a script of two turns that was killed twice, with nothing wrong:
// once while a plain call and a put were running, then as a keyed call was done
// and not recorded.
func innocent() *evidence {
	call := func(id, name, line string) step { return step{ID: id, Tool: name, input: input{Line: line}} }
	r := func(life int, line, nonce string, began, ended int) *ran {
		return &ran{life: life, line: line, nonce: nonce, began: began, ended: ended}
	}
	o := func(id, line, nonce string) outcome {
		return outcome{ID: "f-" + id, CallID: id, Text: said(line, nonce)}
	}
	ids := func(ids ...string) map[string]bool {
		m := make(map[string]bool)
		for _, id := range ids {
			m[id] = true
		}
		return m
	}
	clash := call("c6", "order", "k")
	clash.Note = " else"
	failing := call("c7", "mark", "fails")
	failing.Fail = true
	failed := o("c7", "fails", "n9")
	failed.Kind = tool.Failed
	return &evidence{
		turns: [][]step{
			{call("c0", "mark", "alone"), call("c1", "note", "cut"), call("c2", "order", "k")},
			{call("c3", "order", "k"), call("c4", "put", "put"), call("c5", "look", "look"), clash, failing},
		},
		runs: []*ran{
			r(1, "alone", "n1", 0, 1),
			r(1, "cut", "n2", 2, -1),
			r(1, "k", "n3", 3, 4),
			r(2, "k", "n4", 5, 6),
			r(2, "put", "n5", 7, -1),
			r(3, "put", "n6", 8, 9),
			r(3, "look", "n7", 10, 11),
			r(3, "fails", "n9", 12, 13),
		},
		kills: []sight{
			{life: 1, lines: 5, finished: ids("c0"), running: ids("c1", "c2")},
			{life: 2, lines: 8, finished: ids("c0", "c1", "c2", "c3"), running: ids("c4")},
		},
		transcript: []entry{
			{Turn: 1, At: 0},
			{Turn: 1, At: 0, Life: 2, Left: map[string]durable.Fate{"c0": durable.FateDone, "c1": durable.FateUnknown, "c2": durable.FateAgain}},
			{Turn: 1, At: 0, Results: []outcome{o("c0", "alone", "n1"), {ID: "f-c1", CallID: "c1", Kind: tool.OutcomeUnknown}, o("c2", "k", "n4")}},
			{Turn: 4, At: 1},
			{Turn: 4, At: 1, Life: 3, Left: map[string]durable.Fate{"c3": durable.FateDone, "c4": durable.FateAgain}},
			{Turn: 4, At: 1, Results: []outcome{
				o("c3", "k", "n4"), o("c4", "put", "n6"), o("c5", "look", "n7"),
				{ID: "f-c6", CallID: "c6", Kind: tool.Failed},
				failed,
			}},
		},
		open:  []string{"c1"},
		ended: ids("f-c0", "f-c1", "f-c2", "f-c3", "f-c4", "f-c5", "f-c6", "f-c7"),
	}
}

// The judge finds each thing that must not be, and nothing where nothing is.
func TestJudge(t *testing.T) {
	t.Parallel()
	again := func(life int, line string, at int) func(*evidence) {
		return func(e *evidence) {
			e.runs = append(e.runs, &ran{life: life, line: line, nonce: "again", began: at, ended: at + 1})
		}
	}
	for name, tt := range map[string]struct {
		change func(*evidence)
		want   string
	}{
		"nothing":                              {func(*evidence) {}, ""},
		"a plain call twice":                   {again(2, "cut", 14), "note c1: a plain call ran 2 times"},
		"a finished call again":                {again(3, "alone", 14), "mark c0: was finished when process 1 was killed, and ran again in process 3"},
		"a finished key again":                 {again(3, "k", 14), "order c3: was finished when process 2 was killed, and ran again in process 3"},
		"a call twice in a process":            {again(3, "put", 14), "put: ran twice in process 3"},
		"what nobody asked for":                {again(3, "other", 14), "other: ran, but nobody asked for it"},
		"the key of another call with a run":   {again(3, "k else", 14), "order c6 has the key of another call"},
		"the key of another call with success": {func(e *evidence) { e.transcript[5].Results[3].Kind = "" }, "order c6 has the key of another call"},
		"a success without a run":              {func(e *evidence) { e.runs = slices.Delete(e.runs, 0, 1) }, "mark c0: says"},
		"a success of a run that never ended":  {func(e *evidence) { e.transcript[5].Results[1].Text = said("put", "n5") }, "put c4: says"},
		"two successes of a key": {func(e *evidence) {
			e.transcript[2].Results[2].Text = said("k", "n3")
		}, "order c3: one effect was had twice"},
		"a failure for a success":  {func(e *evidence) { e.transcript[5].Results[1].Kind = tool.Failed }, `put c4: got "failed"`},
		"a success for a failure":  {func(e *evidence) { e.transcript[5].Results[4].Kind = "" }, `mark c7: got ""`},
		"unknown, but repeatable":  {func(e *evidence) { e.transcript[5].Results[1].Kind = tool.OutcomeUnknown }, "put c4: got outcome_unknown, but it can run again"},
		"unknown without a reason": {func(e *evidence) { e.transcript[2].Results[0].Kind = tool.OutcomeUnknown }, "mark c0: got outcome_unknown, but no kill cut it off"},
		"a task for nobody":        {func(e *evidence) { e.open = nil }, "the journal has open records of []"},
		"a record left open":       {func(e *evidence) { e.open = append(e.open, "c4") }, "the journal has open records of"},
		"a result too few":         {func(e *evidence) { e.transcript[5].Results = e.transcript[5].Results[1:] }, "turn 1: got 4 results, want 5"},
		"results in another order": {func(e *evidence) {
			slices.Reverse(e.transcript[2].Results)
		}, `c0: got the result of "c2" in its place`},
		"one id twice":                     {func(e *evidence) { e.transcript[5].Results[0].ID = "f-c0" }, `c3: got the id "f-c0", want one of its own`},
		"a result that is not in the log":  {func(e *evidence) { delete(e.ended, "f-c4") }, "c4: has a result, and its end is not in the log"},
		"a turn without end":               {func(e *evidence) { e.transcript = e.transcript[:4] }, "got results of 1 turns, want 2"},
		"a number used twice":              {func(e *evidence) { e.transcript[3].Turn = 1 }, "a number above 1"},
		"told to be done, and run again":   {func(e *evidence) { e.transcript[1].Left["c2"] = durable.FateDone }, `order c2: process 2 was told "done"`},
		"told to run again, and unknown":   {func(e *evidence) { e.transcript[1].Left["c1"] = durable.FateAgain }, `note c1: process 2 was told "again"`},
		"told to be unknown, and run":      {func(e *evidence) { e.transcript[4].Left["c4"] = durable.FateUnknown }, `put c4: process 3 was told "unknown"`},
		"told that somebody else is at it": {func(e *evidence) { e.transcript[4].Left["c3"] = durable.FateRunning }, `order c3: process 3 was told "running"`},
		"conflicting calls side by side": {func(e *evidence) {
			e.runs[0].ended = 3
		}, "mark c0 and note c1 conflict, and ran side by side"},
		"a call again behind one that conflicts": {func(e *evidence) {
			e.runs[6].life, e.runs[6].began, e.runs[6].ended = 1, 5, 6
		}, "put c4 ran again in process 3, after look c5 which conflicts with it ran in process 1"},
	} {
		t.Run("J2 "+name, func(t *testing.T) {
			e := innocent()
			tt.change(e)
			got := strings.Join(e.judge(), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want it to say %q", got, tt.want)
			}
		})
	}
}

// A script has every kind of call.
func TestScript(t *testing.T) {
	t.Parallel()
	count := make(map[string]int)
	for _, turn := range script(1, 1000) {
		if len(turn) < 1 || len(turn) > 8 {
			t.Errorf("got a turn of %d calls", len(turn))
		}
		keys := make(map[string]bool)
		for _, s := range turn {
			count[s.Tool]++
			switch {
			case s.clash():
				count["another call of a key"]++
			case s.Fail:
				count["failing"]++
			case s.trait().keyed && keys[s.Line]:
				count["a key twice in a turn"]++
			case s.trait().keyed && s.Line != "line"+strings.TrimPrefix(s.ID, "call"):
				count["a key of an earlier turn"]++
			}
			keys[s.Line] = true
		}
	}
	for _, what := range []string{"look", "put", "order", "pay", "mark", "note", "odd", "sign", "another call of a key", "failing", "a key twice in a turn", "a key of an earlier turn"} {
		if count[what] < 10 {
			t.Errorf("%s: got %d in 1000 calls, want more", what, count[what])
		}
	}
	if got := len(slices.Concat(script(2, 200)...)); got != 200 {
		t.Errorf("got %d calls, want 200", got)
	}
}
