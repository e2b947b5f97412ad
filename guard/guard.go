package guard

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/guard/memory"
	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/guard/scan"
	"github.com/ferrule-dev/ferrule/tool"
)

// Guard is how content is kept safe. The zero value has every default. It is not
// changed once it is used; its methods are safe for concurrent use, and a nil Guard
// is the zero one.
type Guard struct {
	// Scanner finds text that tries to steer a model. Nil: the default rules.
	Scanner *scan.Scanner
	// Sanitize is what is done to all that tools return. "": as a tool says of
	// itself (tool.Info.Sanitize) that is no stranger's, else by the trust of its source.
	Sanitize Sanitizing
	// FailClosed withholds what the scanner finds something in, and what it could
	// not look through. Zero: findings are told.
	FailClosed bool
	// Tools say otherwise for some, by the name that models call them, by
	// source__name, or by source__* for all of a source. The most exact one counts.
	Tools map[string]Handling
	// Sinks say what they accept, where it is not the default.
	Sinks map[Sink][]tool.Sensitivity
	// Keys finds keys and tokens, which are taken out of what the model, the record
	// and the store get; package guard/leaks has one. In a session a value has one
	// placeholder, such as [SECRET:aws-key:1]. Nil: only the secrets that tools were
	// given are taken out.
	Keys redact.Scanner
	// Personal is which personal data is taken out likewise. Zero: none.
	Personal redact.Personal
	// Flow is how the flow of data is watched.
	Flow flow.Rules
	// Memory are regions of the agent's memory that tools change only as is
	// declared. Nil: there are none.
	Memory *memory.Guard
}

// Handling is what an operator says of the results of a tool.
type Handling struct {
	Sanitize   Sanitizing // "": as for all
	FailClosed *bool      // nil: as for all
}

// Check says what is wrong with the settings.
func (g *Guard) Check() error {
	if g == nil {
		return nil
	}
	if err := g.Sanitize.check(); err != nil {
		return fmt.Errorf("guard: sanitize: %w", err)
	}
	for name, h := range g.Tools {
		if err := h.Sanitize.check(); err != nil {
			return fmt.Errorf("guard: sanitize of %q: %w", name, err)
		}
	}
	for sink := range g.Sinks {
		if !slices.Contains(sinks(), sink) {
			return fmt.Errorf("guard: sink: got %q, want one of %q", sink, sinks())
		}
	}
	if err := g.Flow.Check(); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	if err := g.Memory.Check(); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	return nil
}

// handling is what counts for the results of a tool.
func (g *Guard) handling(r *tool.Request) (s Sanitizing, closed bool) {
	if r.Tool != nil && !r.Source.Trust.Untrusted() { // no stranger says it of himself
		s = Sanitizing(r.Tool.Sanitize)
	}
	if g == nil {
		return s, false
	}
	s, closed = cmp.Or(g.Sanitize, s), g.FailClosed
	if len(g.Tools) == 0 {
		return s, closed
	}
	for _, name := range []string{r.Source.Name + "__*", r.OwnName(), r.Name} {
		h, ok := g.Tools[name]
		if !ok {
			continue
		}
		if h.Sanitize != "" {
			s = h.Sanitize
		}
		if h.FailClosed != nil {
			closed = *h.FailClosed
		}
	}
	return s, closed
}

// how is what is done to content of a call that is believed so far.
func (g *Guard) how(r *tool.Request, trust tool.Trust) (how Sanitizing, closed bool) {
	how, closed = g.handling(r)
	if how == "" {
		how = byTrust(trust)
	}
	return how, closed
}

// scanner is made when it is first needed, once for all.
func (g *Guard) scanner() *scan.Scanner {
	if g != nil && g.Scanner != nil {
		return g.Scanner
	}
	return defaultScanner()
}

//nolint:gochecknoglobals // it does not change, and is dear to make
var defaultScanner = sync.OnceValue(func() *scan.Scanner {
	s, err := scan.New()
	if err != nil {
		return new(scan.Scanner) // which finishes nothing
	}
	return s
})
