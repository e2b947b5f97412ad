package ferrule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// ledger is a state that calls share: named values, and a count that calls may
// raise in any order. Each step of a call is safe; what happens between two
// steps is the schedule's matter.
type ledger struct {
	mu     sync.Mutex
	values map[string]string
	count  int
	still  bool // calls take no time
}

func (l *ledger) below(path string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(l.values)) {
		if (tool.Access{Resource: path}).Covers(tool.Access{Resource: k}) {
			fmt.Fprintf(&b, "%s=%s ", k, l.values[k])
		}
	}
	return b.String()
}

func (l *ledger) set(path, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.values {
		if k != path && (tool.Access{Resource: path}).Covers(tool.Access{Resource: k}) {
			delete(l.values, k)
		}
	}
	l.values[path] = value
}

type ledgerIn struct {
	Path  string `json:"path"`
	To    string `json:"to,omitempty"`
	Value string `json:"value,omitempty"`
	MS    int    `json:"ms"`
	Loose bool   `json:"loose,omitempty"` // does not claim Parallel beside its touches
	New   string `json:"new,omitempty"`   // Validate puts it in the place of Path: the call moves
	Asks  int    `json:"asks,omitempty"`  // a person says yes after so many ms; 0: nobody is asked
}

// ledgerTools read, write, copy, count and rewrite all, so many of each at once:
// with claims that are true.
func ledgerTools(t *testing.T, atOnce int, state func() *ledger) []*tool.Tool {
	t.Helper()
	type spec = tool.Spec[ledgerIn, string]
	pause := func(in ledgerIn) {
		if !state().still {
			time.Sleep(time.Duration(in.MS) * time.Millisecond)
		}
	}
	read := spec{
		Info: tool.Info{Name: "read"},
		ClaimsOf: func(in ledgerIn) tool.Claims {
			return tool.Claims{ReadOnly: true, Touches: []tool.Access{{Resource: in.Path}}}
		},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			pause(in)
			return state().below(in.Path), nil
		},
	}
	write := spec{
		Info: tool.Info{Name: "write"},
		ClaimsOf: func(in ledgerIn) tool.Claims {
			return tool.Claims{Parallel: !in.Loose, Touches: []tool.Access{{Resource: in.Path, Write: true}}}
		},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			was := state().below(in.Path)
			pause(in)
			state().set(in.Path, in.Value)
			return "was " + was, nil
		},
	}
	copies := spec{
		Info: tool.Info{Name: "copy"},
		ClaimsOf: func(in ledgerIn) tool.Claims {
			return tool.Claims{Parallel: !in.Loose, Touches: []tool.Access{{Resource: in.Path}, {Resource: in.To, Write: true}}}
		},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			text := state().below(in.Path)
			pause(in)
			state().set(in.To, fmt.Sprint(len(text)))
			return text, nil
		},
	}
	count := spec{
		Info: tool.Info{Name: "count", Claims: tool.Claims{Parallel: true}},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			pause(in)
			l := state()
			l.mu.Lock()
			defer l.mu.Unlock()
			l.count++
			return "counted", nil
		},
	}
	all := spec{
		Info: tool.Info{Name: "all"},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			l := state()
			text := l.below("kv:")
			l.mu.Lock()
			n := l.count
			l.mu.Unlock()
			pause(in)
			l.set(in.Path, fmt.Sprint(n, len(text)))
			return fmt.Sprint(n, text), nil
		},
	}
	nothing := spec{
		Info: tool.Info{Name: "nothing", Claims: tool.Claims{Touches: []tool.Access{}}},
		Run: func(_ context.Context, in ledgerIn) (string, error) {
			pause(in)
			return "nothing", nil
		},
	}
	var list []*tool.Tool
	for _, s := range []spec{read, write, copies, count, all, nothing} {
		s.Description, s.AtOnce, s.Validate = "A tool of the test.", atOnce, renew
		made, err := s.Tool()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, made)
	}
	return list
}

// renew is Validate of the tools.
func renew(_ context.Context, in ledgerIn) (json.RawMessage, error) {
	if in.New == "" {
		return nil, nil
	}
	in.Path, in.New = in.New, ""
	return json.Marshal(in)
}

// ledgerRules ask a person about the calls that say so, and ledgerPerson says
// yes.

func ledgerRules(r *tool.Request) tool.Decision {
	if ledgerAsks(r.Args.Text()) > 0 {
		return tool.Decision{Verdict: tool.Ask}
	}
	return tool.Decision{Verdict: tool.Allow}
}

func ledgerPerson(_ context.Context, q policy.Question) (policy.Answer, error) {
	time.Sleep(time.Duration(ledgerAsks(q.Input)) * time.Millisecond)
	return policy.Answer{Allow: true}, nil
}

func ledgerAsks(input string) int {
	var in ledgerIn
	_ = json.Unmarshal([]byte(input), &in)
	return in.Asks
}

type ledgerCall struct {
	Name string
	ledgerIn
}

func drawLedgerCalls(t *rapid.T) []ledgerCall {
	names := []string{"read", "read", "read", "write", "write", "copy", "count", "count", "all", "nothing"}
	paths := []string{"kv:", "kv:a", "kv:a/b", "kv:a/c", "kv:ab", "kv:d", "other:a"}
	moves := append(slices.Repeat([]string{""}, len(paths)), paths...)
	asks := rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "asks")
	calls := make([]ledgerCall, rapid.IntRange(0, 20).Draw(t, "n"))
	for i := range calls {
		calls[i] = ledgerCall{rapid.SampledFrom(names).Draw(t, "name"), ledgerIn{
			Path:  rapid.SampledFrom(paths).Draw(t, "path"),
			To:    rapid.SampledFrom(paths).Draw(t, "to"),
			Value: fmt.Sprint("v", i),
			MS:    rapid.IntRange(0, 5).Draw(t, "ms"),
			Loose: rapid.Bool().Draw(t, "loose"),
			New:   rapid.SampledFrom(moves).Draw(t, "new"),
			Asks:  max(0, rapid.IntRange(-asks, asks).Draw(t, "asks for")),
		}}
	}
	return calls
}

// bank is the ledger's tools with a cap on each, and who runs them.
type bank struct {
	*ledger
	tools []*tool.Tool
	view  *View
}

func newBank(t *testing.T, atOnce int) *bank {
	t.Helper()
	b := new(bank)
	b.tools = ledgerTools(t, atOnce, func() *ledger { return b.ledger })
	rt := &Runtime{Policy: policy.Func(ledgerRules), Answer: ledgerPerson}
	if err := rt.Add(b.tools...); err != nil {
		t.Fatal(err)
	}
	b.view = rt.Session(tool.Caller{Session: "s"}).View(t.Context())
	return b
}

func (b *bank) open(still bool) {
	b.ledger = &ledger{values: map[string]string{"kv:a/b": "1", "kv:d": "2"}, still: still}
}

func (b *bank) sum() string { return fmt.Sprint(b.below("kv:"), b.below("other:"), b.count) }

func (b *bank) tool(name string) *tool.Tool {
	return b.tools[slices.IndexFunc(b.tools, func(t *tool.Tool) bool { return t.Name == name })]
}

// admit gives a call's arguments, as it arrives or as it will run.
func (b *bank) admit(t *testing.T, c ledgerCall, runs bool) tool.Args {
	t.Helper()
	if runs && c.New != "" {
		c.Path, c.New = c.New, ""
	}
	text, err := json.Marshal(c.ledgerIn)
	if err != nil {
		t.Fatal(err)
	}
	args, err := b.tool(c.Name).Admit(text)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

func (b *bank) conflict(t *testing.T, c, o ledgerCall, run bool) bool {
	t.Helper()
	one, err := b.tool(c.Name).ClaimsFor(b.admit(t, c, run))
	other, err2 := b.tool(o.Name).ClaimsFor(b.admit(t, o, run))
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return conflict(one, other)
}

// orderly leaves out moves whose outcome is not that of the calls in order: a
// later call that meets the moved one, and did not meet it before, may have run.
func (b *bank) orderly(t *testing.T, calls []ledgerCall) {
	t.Helper()
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		for _, later := range calls[i+1:] {
			if c.New != "" && b.conflict(t, *c, later, true) && !b.conflict(t, *c, later, false) {
				c.New = ""
			}
		}
	}
}

// oneByOne is the reference: the tools themselves, called in order.
func (b *bank) oneByOne(t *testing.T, calls []ledgerCall) (texts []string, sum string) {
	t.Helper()
	b.open(true)
	for _, c := range calls {
		res, err := b.tool(c.Name).Run(t.Context(), b.admit(t, c, true))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, res.String())
	}
	return texts, b.sum()
}

func (b *bank) sideBySide(t *testing.T, list []ledgerCall, limit int) (texts []string, sum string) {
	t.Helper()
	b.open(false)
	var calls []tool.Call
	for _, c := range list {
		calls = append(calls, tool.Call{Name: c.Name, Input: json.RawMessage(b.admit(t, c, false).Text())})
	}
	synctest.Test(t, func(t *testing.T) {
		turn := b.view.Begin(t.Context(), TurnOptions{Limit: limit})
		turn.Add(calls...)
		for _, r := range turn.Wait() {
			texts = append(texts, r.String())
		}
	})
	return texts, b.sum()
}

func TestSameAsSerial(t *testing.T) {
	t.Parallel()
	t.Run("D2 as far as claims are true the outcome equals running the calls one by one in order, whatever caps hold them, who is asked and what moves", func(t *testing.T) {
		caps := []int{0, 1, 2, 5} // 0: none
		banks := make(map[int]*bank)
		for _, n := range caps {
			banks[n] = newBank(t, n)
		}
		check(t, *cases/20, func(r *rapid.T) {
			b := banks[rapid.SampledFrom(caps).Draw(r, "cap")]
			limit := rapid.SampledFrom([]int{1, 2, 3, 5, 40}).Draw(r, "limit")
			calls := drawLedgerCalls(r)
			b.orderly(t, calls)
			want, wantSum := b.oneByOne(t, calls)
			got, gotSum := b.sideBySide(t, calls, limit)
			if !slices.Equal(got, want) || gotSum != wantSum {
				r.Fatalf("side by side: %q\n%s\none by one: %q\n%s", got, gotSum, want, wantSum)
			}
		})
	})
}
