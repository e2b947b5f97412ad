package ferrule_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// oddBooks are an inbox and a ledger in which something befalls who calls one
// of their methods, before it does what it is asked to.
type oddBooks struct {
	*policy.Memory
	method atomic.Value // a string; nil: none
	befall func()
}

func (o *oddBooks) at(method string) {
	if o.method.Load() == method {
		o.befall()
	}
}

func (o *oddBooks) Update(ctx context.Context, of policy.Asker, change func(*policy.SessionState) error) (policy.SessionState, error) {
	if o.at("Update"); change != nil {
		o.at("Update, to change")
	}
	return o.Memory.Update(ctx, of, change)
}

func (o *oddBooks) Take(ctx context.Context, charges []policy.Charge) (int, time.Duration, error) {
	o.at("Take")
	return o.Memory.Take(ctx, charges)
}

func (o *oddBooks) Grant(ctx context.Context, g policy.Grant) (string, error) {
	o.at("Grant")
	return o.Memory.Grant(ctx, g)
}

func (o *oddBooks) Grants(ctx context.Context, of policy.Asker, tools ...policy.Grant) ([]policy.Grant, error) {
	o.at("Grants")
	return o.Memory.Grants(ctx, of, tools...)
}

func (o *oddBooks) Find(ctx context.Context, id string) (policy.Question, error) {
	o.at("Find")
	return o.Memory.Find(ctx, id)
}

// Of all that a runtime asks an inbox and a ledger, nothing that befalls it
// there leaves a call without its result, and nothing runs that must not.
func TestOddBooks(t *testing.T) {
	t.Parallel()
	befalls := []struct {
		name string
		f    func()
	}{
		{"hangs", func() {
			time.Sleep(time.Hour)
			panic("at last")
		}},
		{"panics", func() { panic("broken") }},
		{"ends its goroutine", runtime.Goexit},
	}
	const unheard = "The person who must allow this call could not be asked, so it was denied."
	const unknown = "It is not known what this session may do, so the call was denied."
	for _, tt := range []struct {
		rule, method string
		asks         bool // somebody must say yes to the call
		runs         int64
		text         string // of the denial; "": what does not return has none of its own
	}{
		{"P1 nothing runs where it is not known how the session stands", "Update", false, 0, unknown},
		{"J1 nothing runs in a turn that has no number", "Update, to change", false, 0, unknown},
		{"P9 nothing runs that could not be counted", "Take", false, 0, ""},
		{"P5 a person is asked where it is not known what was allowed before", "Grants", true, 1, ""},
		{"J2 nothing runs where it is not known whether it has run", "Find", true, 0, unheard},
	} {
		for _, befall := range befalls {
			for _, cooperative := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s: %s %s, cooperative %v", tt.rule, tt.method, befall.name, cooperative), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						books := &oddBooks{Memory: new(policy.Memory), befall: befall.f}
						process := func() process {
							return begins(t, books.Memory, func(rt *ferrule.Runtime, d *tool.Tool) {
								rt.Inbox, rt.Ledger, rt.Rates = books, books, []policy.Rate{{Calls: 9}}
								d.Cooperative = cooperative
								if !tt.asks {
									rt.Policy = allowAll
								}
							})
						}
						number, p := 0, process()
						if tt.method == "Find" {
							n, res := p.turn(t, 0, sending("a"))
							wantFailure(t, res[0], tool.Suspended, "")
							say(t, books, policy.Answer{Allow: true})
							number, p = n, process()
						}
						books.method.Store(tt.method)
						began := time.Now()
						n, res := p.turn(t, number, sending("a"))
						if tt.runs > 0 {
							wantFailure(t, res[0], tool.Suspended, "")
							say(t, books, policy.Answer{Allow: true})
							_, res = p.turn(t, n, sending("a"))
						}
						switch took := time.Since(began); {
						case took > 2*time.Minute:
							t.Errorf("it took %s", took)
						case p.runs.Load() != tt.runs || (res[0].Err == nil) != (tt.runs > 0):
							t.Errorf("got %v, ran %d times, want %d", res[0].Err, p.runs.Load(), tt.runs)
						case tt.text != "":
							wantFailure(t, res[0], tool.Denied, tt.text)
						}
					})
				})
			}
		}
	}
	for _, befall := range befalls {
		t.Run("P5 a yes that cannot be kept is for this once, at most: Grant "+befall.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				k := &keeper{choose: offerExact(false)}
				books := &oddBooks{Memory: new(policy.Memory), befall: befall.f}
				books.method.Store("Grant")
				d, runs := counted(writesFiles(tool.Claims{Reversible: true}))
				s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Answer: k.answer, Ledger: books}, d))
				for i := range 2 {
					began := time.Now()
					s.Call(t.Context(), "write", textArg("/work/a"))
					if took := time.Since(began); took > 2*time.Minute || int(runs.Load()) > len(k.asked) || len(k.asked) != i+1 {
						t.Errorf("call %d took %s; asked %d times, ran %d times", i+1, took, len(k.asked), runs.Load())
					}
					time.Sleep(2 * time.Hour) // what was given up has come back
				}
			})
		})
		t.Run("P10 a mode that cannot be kept is not set: Update "+befall.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				books := &oddBooks{Memory: new(policy.Memory), befall: befall.f}
				s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Ledger: books}, writerTool("one")))
				books.method.Store("Update, to change")
				began := time.Now()
				err := s.SetMode(t.Context(), policy.ModeAuto)
				if took := time.Since(began); err == nil || s.Mode() == policy.ModeAuto || took > time.Minute {
					t.Errorf("got %v and the mode %s after %s", err, s.Mode(), took)
				}
			})
		})
		t.Run("P1 nothing runs once the ledger does not answer any more, until it does again: Update "+befall.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				books := &oddBooks{Memory: new(policy.Memory), befall: befall.f}
				s := ferrule.SessionOf(viewWith(t, &ferrule.Runtime{Ledger: books, Policy: allowAll}, writerTool("one")))
				if res := s.Call(t.Context(), "one", textArg("first")); res.Err != nil { // there are numbers for turns from now on
					t.Fatal(res.Err)
				}
				waitLook()
				books.method.Store("Update")
				wantFailure(t, s.Call(t.Context(), "one", "{}"), tool.Denied, unknown)
				books.method.Store("")
				waitLook()
				if res := s.Call(t.Context(), "one", "{}"); res.Err != nil {
					t.Error(res.Err)
				}
			})
		})
	}
}
