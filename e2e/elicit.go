package main

import (
	"context"
	"encoding/json"
	"fmt"
)

const (
	elicitClients = 4
	elicitCalls   = 20
)

// elicit has clients ask many questions at the same time, through one gateway and
// to one server, in every pairing of eras: each must be asked what its own calls
// led to, and nothing else.
func elicit(ctx context.Context, w *world, s *score) error {
	program, err := w.build(ctx, "./e2e/server")
	if err != nil {
		return err
	}
	for _, server := range []string{"2025", "2026"} {
		u := upstream{name: "asking", command: []string{program, "-era", server}, unprefixed: true}
		reached := u
		if !w.direct {
			url, err := w.gateway(ctx, full(), u)
			if err != nil {
				return err
			}
			reached = upstream{name: "ferrule", url: url}
		}
		for _, generations := range [][]string{{"2025"}, {"2026"}, {"2025", "2026"}} {
			if w.direct && generations[0] == "2025" && server == "2026" {
				continue // they have no era in common
			}
			check := fmt.Sprintf("server %s, clients %q", server, generations)
			elicitAll(ctx, w, s, check, reached, generations)
		}
		w.rest()
	}
	return nil
}

// elicitAll runs all clients at the same time, and judges what they got.
func elicitAll(ctx context.Context, w *world, s *score, check string, u upstream, generations []string) {
	var errands []errand
	for i := range elicitClients {
		e := errand{generation: generations[i%len(generations)], server: u, atOnce: true, who: fmt.Sprintf("client %d", i)}
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
			want := fmt.Sprintf("client %d was asked %s about %s", i, question(i, n), question(i, n))
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
