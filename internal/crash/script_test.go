package crash_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/ferrule-dev/ferrule/tool"
)

// step is one call of a script.
type step struct {
	ID   string `json:"id"` // the provider's
	Tool string `json:"tool"`
	input
}

// input is what every tool of the script takes.
type input struct {
	Line string `json:"line"`         // what it writes; the key of a keyed call
	On   string `json:"on,omitempty"` // what a put writes to
	Note string `json:"note,omitempty"`
	Fail bool   `json:"fail,omitempty"`
}

// trait is what a tool of the script claims.
type trait struct {
	keyed, idempotent, reads, parallel, asks bool
}

// traits are the tools of the script. What is neither keyed nor idempotent nor
// reads is plain: it never runs twice.
func traits() map[string]trait {
	return map[string]trait{
		"look":  {reads: true, parallel: true},
		"put":   {idempotent: true},
		"order": {keyed: true, parallel: true},
		"pay":   {keyed: true},
		"mark":  {},
		"note":  {parallel: true},
		"odd":   {parallel: true}, // its key fails, so that it has none
		"sign":  {asks: true},
	}
}

func (s step) trait() trait { return traits()[s.Tool] }

// repeats reports whether it may run again when it was cut off.
func (s step) repeats() bool { t := s.trait(); return t.keyed || t.idempotent || t.reads }

// clash is a call with the key of an earlier one and other arguments.
func (s step) clash() bool { return s.Note != "" }

// effect is what the lines of its runs say.
func (s step) effect() string { return s.Line + s.Note }

// conflicts is rule D1 for the tools of the script.
func (s step) conflicts(other step) bool {
	if s.Tool == "put" && other.Tool == "put" {
		return s.On == other.On
	}
	return !s.trait().parallel || !other.trait().parallel
}

func (s step) call() tool.Call {
	text, err := json.Marshal(s.input)
	if err != nil {
		panic(err)
	}
	return tool.Call{ID: s.ID, Name: s.Tool, Input: text}
}

// script makes turns of 1 to 8 calls, always the same for a seed.
func script(seed uint64, calls int) [][]step {
	r := rand.New(rand.NewPCG(seed, 6))
	var (
		turns [][]step
		keys  []step // of earlier turns
		n     int
	)
	for n < calls {
		beside := r.IntN(2) == 0 // only such as run side by side
		var turn []step
		for range min(1+r.IntN(8), calls-n) {
			s := someStep(r, beside)
			s.ID, s.Line = fmt.Sprint("call", n), fmt.Sprint("line", n)
			s.Fail = r.IntN(10) == 0
			if s.trait().keyed {
				s = keyed(r, s, turn, keys)
			}
			turn = append(turn, s)
			n++
		}
		for _, s := range turn {
			if s.trait().keyed && !s.Fail && !s.clash() {
				keys = append(keys, s)
			}
		}
		turns = append(turns, turn)
	}
	return turns
}

func someStep(r *rand.Rand, beside bool) step {
	tools := []string{"look", "look", "put", "put", "order", "pay", "mark", "note", "odd", "mark", "sign"}
	if beside {
		tools = []string{"look", "order", "order", "note", "note", "odd"}
	}
	s := step{Tool: tools[r.IntN(len(tools))]}
	if s.Tool == "put" {
		s.On = string(rune('a' + r.IntN(3)))
	}
	return s
}

// keyed gives some keyed calls the key of one beside it, or of an earlier turn.
func keyed(r *rand.Rand, s step, turn, earlier []step) step {
	var from step
	switch which := r.IntN(10); {
	case which < 3:
		for _, o := range turn {
			if o.trait().keyed && !o.Fail && !o.clash() {
				from = o
			}
		}
	case which < 6 && len(earlier) > 0:
		from = earlier[r.IntN(len(earlier))]
		if which == 5 {
			from.Note = " with another note"
		}
	}
	if from.ID == "" {
		return s
	}
	from.ID = s.ID
	return from
}
