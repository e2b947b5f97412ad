package guard

import (
	"fmt"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// Sink is where content goes.
type Sink string

// The sinks. By default the model, the audit log, the store and the page accept
// what is public or internal; logs and exporters what is public.
const (
	Model    Sink = "model"
	Log      Sink = "log"
	Audit    Sink = "audit"
	Exporter Sink = "exporter"
	Store    Sink = "store"
	Page     Sink = "page"
)

func sinks() []Sink { return []Sink{Model, Log, Audit, Exporter, Store, Page} }

// Accepts reports whether a sink is given what is so sensitive. One that is not
// known is given what is public.
func (g *Guard) Accepts(to Sink, s tool.Sensitivity) bool {
	if g != nil {
		if said, ok := g.Sinks[to]; ok {
			return slices.Contains(said, s)
		}
	}
	switch to {
	case Model, Audit, Store, Page:
		return s == tool.Public || s == tool.Internal
	case Log, Exporter:
	}
	return s == tool.Public
}

// Withheld stands where a sink does not accept what is so sensitive.
func Withheld(s tool.Sensitivity) string { return fmt.Sprintf("[withheld: %s]", s) }
