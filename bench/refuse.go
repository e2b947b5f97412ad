package main

import (
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/internal/hostile"
	"github.com/ferrule-dev/ferrule/schema"
)

// mostRefusal is how long refusing one hostile schema may take; mostHandling,
// how long one step with a schema that is not refused, or with a value.
const (
	mostRefusal  = 50 * time.Millisecond
	mostHandling = 300 * time.Millisecond
)

// reading is a way to compile a schema.
type reading struct {
	name    string
	options schema.Options
}

func readings() []reading {
	return []reading{{"plain", schema.Options{}}, {"arguments", schema.Options{Arguments: true}}}
}

// refusals measures how long each hostile schema is looked at before it is
// refused, in each way of reading it.
func refusals() ([]row, error) {
	var rows []row
	for _, h := range hostile.Schemas() {
		r := row{Name: "refuse " + h.Name, mostTime: mostRefusal}
		for _, way := range readings() {
			if _, err := schema.Compile(h.Text, way.options); err == nil {
				return nil, fmt.Errorf("%s: compiled as %s, want a refusal", h.Name, way.name)
			}
			r.take("compile, "+way.name, 5, func() { _, _ = schema.Compile(h.Text, way.options) })
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// handlings measures what is done with schemas that compile and with values
// that are made to be slow to check. Whether a value fits is not asked here.
func handlings() ([]row, error) {
	var rows []row
	for _, h := range hostile.Values() {
		r := row{Name: "handle " + h.Name, mostTime: mostHandling}
		for _, way := range readings() {
			if s, err := schema.Compile(h.Schema, way.options); err == nil {
				r.take("check, "+way.name, 3, func() { _ = s.Check(h.Text) })
			}
		}
		if r.step == "" {
			return nil, fmt.Errorf("%s: the schema does not compile, so nothing is checked", h.Name)
		}
		for _, p := range schema.Profiles() {
			r.take("flatten, "+string(p), 3, func() { _, _ = schema.Flatten(h.Schema, p) })
		}
		r.take("normalise", 3, func() { _, _, _ = schema.Normalise(h.Schema) })
		r.take("repair", 3, func() { _, _, _ = schema.Repair(h.Text) })
		rows = append(rows, r)
	}
	return rows, nil
}

// take runs one step some times, unless the first is far too slow. The least
// time counts, and of all steps the slowest.
func (r *row) take(name string, tries int, f func()) {
	w := work{one: func() error { f(); return nil }}
	least := cpu(w, 1)
	for range tries - 1 {
		if least > 4*r.mostTime {
			break
		}
		least = min(least, cpu(w, 1))
	}
	if ns := float64(least); r.step == "" || ns > r.NS {
		r.NS, r.step = ns, name
	}
}

// slow is what took too long.
func slow(rows []row) (all []miss) {
	for _, r := range rows {
		if r.NS > float64(r.mostTime) {
			all = append(all, miss{r.Name, "ms", fmt.Sprintf("%s (%s): %.0f ms, want at most %d", r.Name, r.step, r.NS/1e6, r.mostTime.Milliseconds())})
		}
	}
	return all
}
