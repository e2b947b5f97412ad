package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/sandbox"
)

// mostTries is how often a bound is measured before it counts as missed. What
// else the machine does can only make a work late, so a bound that holds once
// holds.
const mostTries = 4

// checkBounds fails when a bound is missed in every try. measure is told which
// rows missed one so far, at first none, and need measure only those anew.
func checkBounds(out io.Writer, measure func(again []string) (ownFigures, error)) error {
	var left []miss
	for try := range mostTries {
		var again []string
		for _, m := range left {
			again = append(again, m.row)
		}
		own, err := measure(again)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, own)
		now := own.missed()
		if try > 0 {
			now = slices.DeleteFunc(now, func(m miss) bool { return !slices.ContainsFunc(left, m.same) })
		}
		if len(now) == 0 {
			return nil
		}
		left = now
		fmt.Fprintf(out, "missed: %s\n\n", texts(left))
	}
	return fmt.Errorf("missed %d times: %s", mostTries, texts(left))
}

// miss is a bound that does not hold.
type miss struct{ row, unit, text string }

func (m miss) same(o miss) bool { return m.row == o.row && m.unit == o.unit }

func texts(all []miss) string {
	list := make([]string, len(all))
	for i, m := range all {
		list[i] = m.text
	}
	return strings.Join(list, "; ")
}

// missed is every bound that does not hold.
func missed(rows []row) (all []miss) {
	for _, r := range rows {
		if r.most > 0 && r.Ratio > r.most {
			all = append(all, miss{r.Name, "ratio", fmt.Sprintf("%s: ratio %.3f, want at most %.2f", r.Name, r.Ratio, r.most)})
		}
		if r.mostAllocs >= 0 && r.Allocs > r.mostAllocs {
			all = append(all, miss{r.Name, "allocations", fmt.Sprintf("%s: %d allocations, want at most %d", r.Name, r.Allocs, r.mostAllocs)})
		}
	}
	return all
}

// ownFigures are all figures of Ferrule itself.
type ownFigures struct{ rows, compared, refused, handled []row }

func (f ownFigures) String() string {
	return table(f.rows) + "\n" + comparisonTable(f.compared) + "\n" + hostileTable("schema", f.refused) + "\n" + hostileTable("schema and value", f.handled)
}

func (f ownFigures) missed() []miss {
	return slices.Concat(missed(f.rows), missed(f.compared), slow(f.refused), slow(f.handled))
}

// suite is all that is measured of Ferrule itself, and what came of it last. Its
// works are made anew each time: what they keep would be in the way of the rest.
type suite struct {
	works                                                                 func() ([]work, error)
	rows                                                                  []row // of the works
	started, waited, journalled, granted, kept, offered, refused, handled part
}

// part is figures that are always measured together.
type part struct {
	measure func() ([]row, error)
	rows    []row
}

func newSuite(ctx context.Context, helper sandbox.Helper) *suite {
	return &suite{
		works: func() ([]work, error) { return allWorks(ctx) },
		started: part{measure: func() ([]row, error) {
			started, err := goroutines(ctx)
			return []row{started}, err
		}},
		waited:     part{measure: func() ([]row, error) { return wall(ctx) }},
		journalled: part{measure: func() ([]row, error) { return journalTimes(ctx) }},
		granted:    part{measure: func() ([]row, error) { return grantTimes(ctx) }},
		kept:       part{measure: func() ([]row, error) { return results(ctx) }},
		offered:    part{measure: func() ([]row, error) { return builtinTimes(ctx, helper) }},
		refused:    part{measure: refusals},
		handled:    part{measure: handlings},
	}
}

func allWorks(ctx context.Context) ([]work, error) {
	list, err := works(ctx)
	if err != nil {
		return nil, err
	}
	more, err := runtimeWorks(ctx)
	if err != nil {
		return nil, err
	}
	deciding, err := policyWorks(ctx)
	if err != nil {
		return nil, err
	}
	loops, err := agentWorks(ctx)
	if err != nil {
		return nil, err
	}
	told, err := telemetryWorks(ctx)
	if err != nil {
		return nil, err
	}
	scrubs, err := secretWorks(ctx)
	return slices.Concat(list, more, told, loops, deciding, scrubs), err
}

// measure measures what the named rows need, everything where none is named. The
// other figures stay as they were.
func (s *suite) measure(again []string) (f ownFigures, err error) {
	if err := s.measureWorks(again); err != nil {
		return f, err
	}
	compared, err := compare(s.rows)
	if err != nil {
		return f, err
	}
	for _, p := range []*part{&s.started, &s.waited, &s.journalled, &s.granted, &s.kept, &s.offered, &s.refused, &s.handled} {
		if err := p.renew(again); err != nil {
			return f, err
		}
	}
	return ownFigures{s.rows, slices.Concat(compared, scrubbingTimes(s.rows), s.started.rows, s.waited.rows, s.journalled.rows, s.granted.rows, s.kept.rows, s.offered.rows), s.refused.rows, s.handled.rows}, nil
}

func (s *suite) measureWorks(again []string) error {
	names := withCompared(again)
	if !concerns(names, s.rows) {
		return nil
	}
	list, err := s.works()
	if err != nil {
		return err
	}
	rows, err := measure(chosen(list, names), rounds, slice)
	if err != nil {
		return err
	}
	s.rows = renewed(s.rows, rows)
	return nil
}

// renew measures the part if it is concerned.
func (p *part) renew(again []string) (err error) {
	if concerns(again, p.rows) {
		p.rows, err = p.measure()
	}
	return err
}

// concerns reports whether names, which are all where there is none, are those of
// some of the rows.
func concerns(names []string, rows []row) bool {
	return len(names) == 0 || slices.ContainsFunc(rows, func(r row) bool { return slices.Contains(names, r.Name) })
}

// withCompared are names and those of the works that comparisons among them are
// about.
func withCompared(names []string) []string {
	all := slices.Clone(names)
	for _, c := range comparisons() {
		if slices.Contains(names, c.name) {
			all = append(all, c.of, c.to)
		}
	}
	for _, name := range names {
		if of, ok := strings.CutSuffix(name, inMicroseconds); ok {
			all = append(all, of)
		}
	}
	return all
}

// chosen are the works of these names, which are all where there is none, behind
// the floor, which is the first.
func chosen(list []work, names []string) []work {
	if len(names) == 0 {
		return list
	}
	some := []work{list[0]}
	for _, w := range list[1:] {
		if slices.Contains(names, w.name) {
			some = append(some, w)
		}
	}
	return some
}

// renewed are rows with new ones in the place of those of their names.
func renewed(old, now []row) []row {
	if len(old) == 0 {
		return now
	}
	all := slices.Clone(old)
	for _, r := range now {
		all[slices.IndexFunc(all, func(o row) bool { return o.Name == r.Name })] = r
	}
	return all
}
