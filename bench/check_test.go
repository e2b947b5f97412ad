package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestBoundsAreTriedAgain(t *testing.T) {
	late := row{Name: "late", Ratio: 2, most: 1, mostAllocs: -1}
	other := row{Name: "other", Ratio: 2, most: 1, mostAllocs: -1}
	greedy := row{Name: "late", Ratio: 1, most: 1, Allocs: 3, mostAllocs: 2}
	slowest := func(step string) row { return row{Name: "handle x", NS: 301e6, mostTime: mostHandling, step: step} }
	rows := func(list ...row) ownFigures { return ownFigures{rows: list} }
	handled := func(step string) ownFigures { return ownFigures{handled: []row{slowest(step)}} }
	for _, tt := range []struct {
		name  string
		tries []ownFigures
		again string // what was measured, try by try
		err   string
	}{
		{"everything holds at once", []ownFigures{rows()}, "", ""},
		{"missed once", []ownFigures{rows(late), rows()}, "|late", ""},
		{"it holds the last time", []ownFigures{rows(late), rows(late), rows(late), rows()}, "|late|late|late", ""},
		{"missed every time", []ownFigures{rows(late), rows(late), rows(late), rows(late)}, "|late|late|late", "missed 4 times: late: ratio 2.000, want at most 1.00"},
		{"each holds once", []ownFigures{rows(late, other), rows(late), rows(other)}, "|late,other|late", ""},
		{"one of two holds once", []ownFigures{rows(late, other), rows(late, other), rows(other), rows(late, other)}, "|late,other|late,other|other", "missed 4 times: other: ratio 2.000, want at most 1.00"},
		{"two bounds of a row, each missed once", []ownFigures{rows(late), rows(greedy)}, "|late", ""},
		{"one bound, by another step each time", []ownFigures{handled("a"), handled("b"), handled("a"), handled("b")}, "|handle x|handle x|handle x", "missed 4 times: handle x (b): 301 ms, want at most 300"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			err := checkBounds(io.Discard, func(again []string) (ownFigures, error) {
				asked = append(asked, strings.Join(again, ","))
				if len(asked) > len(tt.tries) {
					t.Fatalf("measured %d times, want %d", len(asked), len(tt.tries))
				}
				return tt.tries[len(asked)-1], nil
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.err || strings.Join(asked, "|") != tt.again {
				t.Errorf("got %q after measuring %q, want %q after %q", got, asked, tt.err, tt.again)
			}
		})
	}
	broken := errors.New("broken")
	if err := checkBounds(io.Discard, func([]string) (ownFigures, error) { return ownFigures{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want what went wrong", err)
	}
}

func TestOnlyWhatIsNeededIsMeasuredAgain(t *testing.T) {
	list := []work{{name: "floor"}, {name: tenCalls}, {name: hundredCalls}, {name: plan1000}}
	for _, tt := range []struct {
		names []string
		want  []string
	}{
		{nil, []string{"floor", tenCalls, hundredCalls, plan1000}},
		{[]string{plan1000}, []string{"floor", plan1000}},
		{[]string{"CPU of 100 calls to that of 10"}, []string{"floor", tenCalls, hundredCalls}},
	} {
		var got []string
		for _, w := range chosen(list, withCompared(tt.names)) {
			got = append(got, w.name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: measures %q, want %q", tt.names, got, tt.want)
		}
	}
	times := 0
	p := part{measure: func() ([]row, error) {
		times++
		return []row{{Name: "a"}, {Name: "b"}}, nil
	}}
	for _, names := range [][]string{nil, {"c"}, {"b", "c"}} {
		if err := p.renew(names); err != nil {
			t.Fatal(err)
		}
	}
	if times != 2 || len(p.rows) != 2 {
		t.Errorf("measured %d times, to %v, want twice: at first, and what is named", times, p.rows)
	}
	old, now := []row{{Name: "floor", NS: 1}, {Name: "a", NS: 1}, {Name: "b", NS: 1}}, []row{{Name: "floor", NS: 2}, {Name: "b", NS: 2}}
	var ns []float64
	for _, r := range renewed(old, now) {
		ns = append(ns, r.NS)
	}
	if !slices.Equal(ns, []float64{2, 1, 2}) || old[0].NS != 1 || len(renewed(nil, now)) != 2 {
		t.Errorf("renewed to %v, want 2, 1 and 2, and the old ones as they were", ns)
	}
}
