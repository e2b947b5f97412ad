package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

const (
	elicitClients = 4
	elicitCalls   = 20
)

// maxAsking is how many calls of a stateless session a server of the old era is
// asked by: each has a process to itself.
const maxAsking = 16

// setting is one way in which clients and a server meet.
type setting struct {
	server      string   // its era
	reads       bool     // the tool says that it only reads: calls need not wait for each other
	generations []string // of the clients, in turn
	named       bool     // each client has a name of its own; else they are one stateless session
}

func (x setting) String() string {
	text := fmt.Sprintf("server %s, clients %q", x.server, x.generations)
	if x.named {
		text += " of different names"
	}
	if x.reads {
		text += ", read-only"
	}
	return text
}

// together is how many questions can be open at the same time.
func (x setting) together(direct bool) int {
	if direct || x.server == "2026" {
		return elicitClients * elicitCalls
	}
	old, stateless := 0, 0
	for i := range elicitClients {
		if x.generations[i%len(x.generations)] == "2025" {
			old++
		} else {
			stateless++
		}
	}
	if stateless > 0 && !x.named {
		stateless = 1
	}
	return old*elicitCalls + stateless*maxAsking
}

// elicit has clients ask many questions at the same time, through one gateway and
// to one server, in every pairing of eras: each must be asked what its own calls
// led to, and nothing else; and no question may wait for the answer to another.
func elicit(ctx context.Context, w *world, s *score) error {
	program, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return err
	}
	for _, server := range []string{"2025", "2026"} {
		for _, reads := range []bool{false, true} {
			for _, generations := range [][]string{{"2025"}, {"2026"}, {"2025", "2026"}} {
				if w.direct && generations[0] == "2025" && server == "2026" {
					continue // they have no era in common
				}
				if err := elicitFrom(ctx, w, s, program, setting{server: server, reads: reads, generations: generations}); err != nil {
					return err
				}
				w.rest()
			}
		}
	}
	return nil
}

// elicitFrom has clients of one name at a server, and then such of different names.
// The gateway is their own: sessions that others have not ended keep a process each.
func elicitFrom(ctx context.Context, w *world, s *score, program string, x setting) error {
	dir, err := w.folder("elicit")
	if err != nil {
		return err
	}
	open := filepath.Join(dir, "open")
	u := upstream{name: "asking", command: []string{program, "-era", x.server, "-open", open}, unprefixed: true}
	if x.reads {
		u.command = append(u.command, "-reads")
	}
	if !w.direct {
		url, err := w.gateway(ctx, full(), u)
		if err != nil {
			return err
		}
		u = upstream{name: "ferrule", url: url}
	}
	for _, x.named = range []bool{false, true} {
		if x.named && !slices.Contains(x.generations, "2026") {
			continue // sessions of the old era are apart, whatever their names
		}
		elicitAll(ctx, w, s, x, u)
		most, err := highWater(open)
		if err != nil {
			return err
		}
		want := x.together(w.direct)
		s.hold(x.String()+": questions are open at once", most >= want, most, want)
	}
	return nil
}

// highWater is how many questions were open at once, by what servers have written.
// The next count begins anew.
func highWater(file string) (most int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	open := 0
	for _, sign := range text {
		if open--; sign == '+' {
			open += 2
		}
		most = max(most, open)
	}
	return most, os.Remove(file)
}

// elicitAll runs all clients at the same time, and judges what they got.
func elicitAll(ctx context.Context, w *world, s *score, x setting, u upstream) {
	check := x.String()
	var errands []errand
	for i := range elicitClients {
		e := errand{generation: x.generations[i%len(x.generations)], server: u, atOnce: true, who: fmt.Sprintf("client %d", i), together: x.together(w.direct)}
		if x.named {
			e.name = e.who
		}
		for n := range elicitCalls {
			e.calls = append(e.calls, toolCall{"ask", object{"who": question(i, n)}})
		}
		errands = append(errands, e)
	}
	visits, err := w.typescript(ctx, errands)
	if err != nil {
		s.fail(check, err.Error())
		return
	}
	right, wrong, lost := 0, []string{}, []string{}
	for i, v := range visits {
		if v.err != nil {
			lost = append(lost, v.err.Error())
			continue
		}
		for n, o := range v.outcomes {
			asked := question(i, n)
			if !w.direct { // the gateway says who asks
				asked = "server asking asks: " + asked
			}
			want := fmt.Sprintf("client %d was asked %s about %s", i, asked, question(i, n))
			switch got := o.text(); {
			case got == want:
				right++
			case o.Error != nil || got == "":
				lost = append(lost, string(o.Error)+string(o.Result))
			default:
				wrong = append(wrong, got+", want "+want)
			}
		}
	}
	s.hold(check+": none reaches the wrong client", len(wrong) == 0, first(wrong), nil)
	s.hold(check+": each is answered", right == elicitClients*elicitCalls, object{"answered": right, "lost": first(lost)}, elicitClients*elicitCalls)
}

func question(client, n int) string { return fmt.Sprintf("question %d of %d", n, client) }

// text is the first text of a result.
func (o outcome) text() string {
	var r struct{ Content []struct{ Text string } }
	if json.Unmarshal(o.Result, &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// first are the first few of many.
func first(all []string) []string {
	if len(all) > 5 {
		return append(all[:5:5], fmt.Sprintf("and %d more", len(all)-5))
	}
	return all
}
