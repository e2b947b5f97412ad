package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// A peer is a runtime that runs the tool calls of one model turn; Ferrule is one
// of them. All are given the same tools and calls: measured in this file, driven
// into faults in faults.go. A further one is a function that returns a peer, and
// its name in peers.
type peer struct {
	name   string
	module string // its version is read from the build
	note   string // for the table: what of the peer a user calls, and what that includes
	// givesUp is when it is expected to wait no longer for a call that does not
	// heed the end of the turn's context; 0: it is not known to give up.
	givesUp time.Duration

	// prepare makes a turn of these calls with these tools on offer. What it
	// starts ends with ctx.
	prepare func(ctx context.Context, tools []function, calls []request) (turn, error)
	// alone makes one call of a tool outside of a turn, for a peer that has a
	// function for it; nil: it has none.
	alone func(ctx context.Context, tool function, input string) (func(context.Context) error, error)
}

func peers() []peer {
	return []peer{ferruleRuntime(), eino(), einoChain(), genkit(), langchain(), adk()}
}

// function is a tool as its author writes it. A peer that knows schemas derives
// them from the type args: all six fields are required.
type function struct {
	name string
	// For a peer that can be told:
	writes      bool // its calls must not overlap
	cooperative bool // it returns soon once its context ends

	run func(context.Context, args) (reply, error)
}

// request is a call as a model asks for it; input is JSON.
type request struct{ id, tool, input string }

// result is what the model is shown for a call: the JSON of a reply, or
// whatever the peer says instead.
type result struct{ id, text string }

// turn is one model turn, made ready so that only the peer's own work is
// measured. It can be run again after it returned.
type turn interface {
	// Run runs all calls. An error means that the model is shown nothing.
	Run(ctx context.Context) error
	// Results is what the model is shown after the last run, in that order. It
	// is not measured.
	Results() []result
}

// version is the version of the peer's module in this build.
func (p peer) version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown version"
	}
	for _, m := range info.Deps {
		switch {
		case m.Path != p.module:
		case m.Replace != nil:
			return "of this tree"
		default:
			return m.Version
		}
	}
	return "unknown version"
}

// works are what is measured for a peer: the floor, a turn of one call, a turn
// of ten and, if the peer has that, a call outside of a turn. They have no bounds:
// those of Ferrule are in works and runtimeWorks.
func (p peer) works(ctx context.Context) ([]work, error) {
	tools, input := []function{{name: "search", cooperative: true, run: call}}, []byte(inOrder)
	list := []work{{"floor", 0, -1, func() error { return floor(ctx, input) }}}
	for _, size := range []struct {
		name  string
		calls int
	}{{"one call", 1}, {"ten calls", 10}} {
		calls := make([]request, size.calls)
		for i := range calls {
			calls[i] = request{id: fmt.Sprintf("call_%d", i+1), tool: "search", input: inOrder}
		}
		t, err := p.prepare(ctx, tools, calls)
		if err != nil {
			return nil, err
		}
		name := p.name + ", " + size.name
		if err := rightReplies(ctx, t, size.calls); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, work{name, 0, -1, func() error { return t.Run(ctx) }})
	}
	if p.alone == nil {
		return list, nil
	}
	run, err := p.alone(ctx, tools[0], inOrder)
	return append(list, work{p.name + ", outside of a turn", 0, -1, func() error { return run(ctx) }}), err
}

// rightReplies runs a turn of n equal calls once and checks what the model is
// shown: a peer that answers with n errors would be quick.
func rightReplies(ctx context.Context, t turn, n int) error {
	if err := t.Run(ctx); err != nil {
		return err
	}
	var in args
	if err := json.Unmarshal([]byte(inOrder), &in); err != nil {
		return err
	}
	want, err := call(ctx, in)
	if err != nil {
		return err
	}
	list := t.Results()
	for _, r := range list {
		if got, ok := r.reply(); !ok || got != want {
			return fmt.Errorf("got the result %q, want %+v", r.text, want)
		}
	}
	if len(list) != n {
		return fmt.Errorf("got %d results, want %d", len(list), n)
	}
	return nil
}

// reply reads the result as what a tool returned; false: it is something else,
// which a model must take for an error.
func (r result) reply() (reply, bool) {
	var fields map[string]json.RawMessage
	var out reply
	if json.Unmarshal([]byte(r.text), &fields) != nil || json.Unmarshal([]byte(r.text), &out) != nil {
		return reply{}, false
	}
	_, ok := fields["done"]
	return out, ok
}

// measurePeer measures one peer. It is called in a process of its own: genkit
// sets the tracer of the whole process, and adk would use it too.
func measurePeer(ctx context.Context, p peer) ([]row, error) {
	list, err := p.works(ctx)
	if err != nil {
		return nil, err
	}
	return measure(list, rounds, slice)
}

// measured is a peer with its figures.
type measured struct {
	peer
	one, ten row
	alone    []row // none or one
}

func measurePeers(ctx context.Context) ([]measured, error) {
	var all []measured
	for _, p := range peers() {
		text, err := inChild(ctx, p.name)
		if err != nil {
			return nil, err
		}
		var rows []row
		if err := json.Unmarshal([]byte(text), &rows); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		if len(rows) < 3 {
			return nil, fmt.Errorf("%s: got %d rows, want the floor, one call and ten", p.name, len(rows))
		}
		all = append(all, measured{p, rows[1], rows[2], rows[3:]})
	}
	return all, nil
}

func peerTable(all []measured) string {
	var b strings.Builder
	b.WriteString("| peer | one call: ratio to floor, allocations | ten calls: ratio to ten floors, allocations | note |\n|---|---|---|---|\n")
	for _, m := range all {
		fmt.Fprintf(&b, "| %s %s | %.2f, %d | %.2f, %d | %s; each further call: %.2f", m.name, m.version(),
			m.one.Ratio, m.one.Allocs, m.ten.Ratio/10, m.ten.Allocs, m.note, (m.ten.Ratio-m.one.Ratio)/9)
		for _, r := range m.alone {
			fmt.Fprintf(&b, "; a call outside of a turn: %.2f, %d", r.Ratio, r.Allocs)
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
