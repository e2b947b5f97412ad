package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// chatCalls puts the calls of a stream together. Servers tell their pieces apart by
// an index; some have none, or the same one for all, and go by the id, or send each
// call in one piece.
//
// Calls are told in their order. One is complete when another begins and its arguments
// are a closed object, or when the answer ends because the model was done. Where the answer was cut short
// (by a limit of tokens, by a filter, for a reason that is not known), only calls count
// whose arguments are closed: an object without its last brace is no JSON, so half a
// call is never taken for a whole one; and one of which no argument has come is left
// out, because they might have been about to.
type chatCalls struct {
	told   func(Delta)
	before func() // tells what must be told before a call
	all    []*chatOpen
	open   []*chatOpen // those behind the last one that was told
	keys   map[chatKey]*chatOpen
}

// chatKey is what a piece says of the call that it belongs to.
type chatKey struct {
	index int // -1: none
	id    string
}

func keyOf(c *chatCall) chatKey {
	if c.Index == nil {
		return chatKey{-1, string(c.ID)}
	}
	return chatKey{*c.Index, string(c.ID)}
}

// chatOpen is a call as far as it has come.
type chatOpen struct {
	id, name  string
	arguments []byte
	depth     braces
	extra     json.RawMessage
	broken    bool // its brackets are closed, and it is no JSON for all that
	begun     bool // told that it has begun
	whole     bool // told
}

// add takes a piece of a call.
func (s *chatCalls) add(c *chatCall) error {
	o := s.find(c)
	if o == nil {
		if c.ID == "" && c.Function.Name == "" && c.Function.Arguments == "" {
			return nil
		}
		o = s.begin(c)
	}
	name, arguments := string(c.Function.Name), string(c.Function.Arguments)
	if o.whole {
		if !blank(arguments) {
			return fmt.Errorf("call %s: got more arguments behind its end", o.name)
		}
		return nil
	}
	if o.id == "" {
		o.id = string(c.ID)
	}
	switch {
	case strings.HasPrefix(name, o.name): // the first piece, the same again, or all of it so far
		o.name = name
	case name != "" && len(o.arguments) == 0 && !strings.HasPrefix(o.name, name):
		o.name += name
	}
	if given(c.Extra) {
		o.extra = c.Extra
	}
	o.arguments = append(o.arguments, arguments...)
	o.depth.add(arguments)
	if arguments != "" && o.name != "" {
		s.tellBegun(o)
	}
	return nil
}

// find is the call that a piece belongs to; nil: a new one.
func (s *chatCalls) find(c *chatCall) *chatOpen {
	o := s.keys[keyOf(c)]
	switch {
	case c.Index == nil && c.ID == "" && len(s.all) > 0:
		o = s.all[len(s.all)-1]
	case c.Index != nil && o == nil:
		o = s.keys[chatKey{index: *c.Index}] // the last one that has it
	}
	if o == nil || c.Function.Name != "" && o.behind(c) {
		return nil
	}
	return o
}

// behind tells whether a piece with a name begins another call, though it has the index
// of this one or none. It does if it has another id, unless it goes on with the same
// name in arguments that are open: some servers have a new id for each piece. Without
// one it does behind arguments that are closed, if it is more than the same name once
// more; and before any have come, if there are no ids and it is another name. Where
// there are ids, it is the rest of the name.
func (o *chatOpen) behind(c *chatCall) bool {
	id, name := string(c.ID), string(c.Function.Name)
	switch none := blank(string(o.arguments)); {
	case id != "" && o.id != "" && id != o.id:
		return none || o.depth.closed || name != o.name
	case none:
		return id == "" && o.id == "" && !strings.HasPrefix(name, o.name) && !strings.HasPrefix(o.name, name)
	case id == "" && name == o.name:
		return o.depth.closed && (c.Index == nil || !blank(string(c.Function.Arguments)))
	}
	return o.depth.closed && name != o.name
}

// begin begins a call. Those before it whose arguments are closed are complete.
func (s *chatCalls) begin(c *chatCall) *chatOpen {
	for len(s.open) > 0 && s.open[0].closed() {
		s.tell(s.open[0])
		s.open = s.open[1:]
	}
	o := &chatOpen{}
	s.all, s.open = append(s.all, o), append(s.open, o)
	if s.keys == nil {
		s.keys = map[chatKey]*chatOpen{}
	}
	key := keyOf(c)
	s.keys[key], s.keys[chatKey{index: key.index}] = o, o
	return o
}

// closed tells whether nothing of the call can be missing. Of arguments that are no JSON
// though their brackets are closed, none that come behind them makes JSON: they are
// looked at once.
func (o *chatOpen) closed() bool {
	if o.name == "" || !o.depth.closed || o.broken {
		return false
	}
	o.broken = !closed(strings.TrimSpace(string(o.arguments)))
	return !o.broken
}

// finish is the end of the answer. What has no name is no call. Whole: the model was
// done, and what it wrote is what it wanted to write.
func (s *chatCalls) finish(whole bool) {
	for _, o := range s.open {
		if o.name != "" && whole || o.closed() {
			s.tell(o)
		}
	}
	s.open = nil
}

func (s *chatCalls) tellBegun(o *chatOpen) {
	if !o.begun {
		o.begun = true
		s.told(Delta{Kind: DeltaBegun, Call: tool.Call{ID: o.id, Name: o.name}})
	}
}

func (s *chatCalls) tell(o *chatOpen) {
	s.tellBegun(o)
	s.before()
	o.whole = true
	tellWhole(o.part(), s.told)
}

func (o *chatOpen) call() tool.Call {
	return tool.Call{ID: o.id, Name: o.name, Input: inputOf(string(o.arguments))}
}

// part is the call as a part.
func (o *chatOpen) part() Part {
	c := o.call()
	p := Part{Kind: PartCall, Call: &c}
	if o.extra != nil {
		var w writer
		w.open('{')
		w.text("id", c.ID)
		w.text("type", "function")
		writeChatFunction(&w, &c)
		w.member("extra_content", o.extra)
		w.close('}')
		p.Own, p.Of = json.RawMessage(w), Chat{}.String()
	}
	return p
}

// parts are the calls that are complete, in their order.
func (s *chatCalls) parts() []Part {
	var parts []Part
	for _, o := range s.all {
		if o.whole {
			parts = append(parts, o.part())
		}
	}
	return parts
}

// braces follows how deep in brackets a text is, piece by piece.
type braces struct {
	depth             int
	inText, backslash bool
	closed            bool // the outermost bracket was closed, and nothing came behind it
}

func (b *braces) add(piece string) {
	for i := range len(piece) {
		c := piece[i]
		if b.inText {
			switch {
			case b.backslash:
				b.backslash = false
			case c == '\\':
				b.backslash = true
			case c == '"':
				b.inText = false
			}
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			b.inText = true
		case '{', '[':
			b.depth++
		case '}', ']':
			b.depth--
		}
		b.closed = b.depth == 0 && (c == '}' || c == ']')
	}
}
