package main

import (
	"fmt"
	"time"

	"github.com/ferrule-dev/ferrule/internal/hostile"
	"github.com/ferrule-dev/ferrule/schema"
)

// mostRefusal is how long refusing one hostile schema may take.
const mostRefusal = 50 * time.Millisecond

// refusals measures how long each hostile schema is looked at before it is
// refused, in each way of reading it; of five tries the least counts.
func refusals() ([]row, error) {
	var rows []row
	for _, h := range hostile.Schemas() {
		r := row{Name: "refuse " + h.Name}
		for _, o := range []schema.Options{{}, {Arguments: true}} {
			w := work{one: func() error {
				if _, err := schema.Compile(h.Text, o); err == nil {
					return fmt.Errorf("%s: compiled, want a refusal", h.Name)
				}
				return nil
			}}
			if err := w.one(); err != nil {
				return nil, err
			}
			least := cpu(w, 1)
			for range 4 {
				least = min(least, cpu(w, 1))
			}
			r.NS = max(r.NS, float64(least)) // the slower way of reading
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// slow names the refusals that took too long.
func slow(rows []row) []string {
	var all []string
	for _, r := range rows {
		if r.NS > float64(mostRefusal) {
			all = append(all, fmt.Sprintf("%s: %.0f ms, want at most %.0f", r.Name, r.NS/1e6, float64(mostRefusal)/1e6))
		}
	}
	return all
}
