package memory

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// Call is a call while regions are watched for it.
type Call struct {
	guard *Guard
	tier  Tier

	mu       sync.Mutex
	breaches []*Breach
}

// Begin watches every region for a call that is about to run. An error says why it
// must not run.
func (g *Guard) Begin(ctx context.Context, r *tool.Request) (*Call, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	c := &Call{guard: g, tier: g.TierOf(r)}
	all := g.watches()
	for i, w := range all {
		if err := w.enter(ctx, c); err != nil {
			for _, w := range all[:i] {
				w.drop(c)
			}
			return nil, err
		}
	}
	return c, nil
}

// End looks at every region when a call has returned, whatever became of it. With
// a breach the call must fail. ctx bounds how long it waits for others who look;
// looking, and putting back, take 30 s each at most. It is called once.
func (c *Call) End(ctx context.Context) []*Breach {
	for _, w := range c.guard.watches() {
		w.leave(ctx, c)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.breaches
}

// Drop ends the watch for a call that did not run after all.
func (c *Call) Drop() {
	for _, w := range c.guard.watches() {
		w.drop(c)
	}
}

func (c *Call) blame(b *Breach) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.breaches = append(c.breaches, b)
}

// Breach is a change of memory that nobody declared. It has been put back, unless
// Left says why not.
type Breach struct {
	Region  string
	Changed []string // names of what was changed, made or removed
	Unknown error    // the region could not be looked at as it was, so Changed may lack something
	Left    error    // it holds what it must not: no call runs until it could be put back
	Calls   int      // that were under way: it is one of them, or what one of them has started
}

// Error tells the operator: names only, no content.
func (b *Breach) Error() string {
	var parts []string
	switch {
	case len(b.Changed) > 0:
		parts = append(parts, "changed: "+shown(b.Changed))
	case b.Unknown == nil:
		parts = append(parts, "changed, and changed back")
	}
	if b.Unknown != nil {
		parts = append(parts, "it could not be looked at: "+b.Unknown.Error())
	}
	if b.Left != nil {
		parts = append(parts, "it could not be put back: "+b.Left.Error())
	} else {
		parts = append(parts, "it was put back")
	}
	if b.Calls > 1 {
		parts = append(parts, fmt.Sprintf("by one of %d calls under way", b.Calls))
	}
	return fmt.Sprintf("memory %q: %s", b.Region, strings.Join(parts, "; "))
}

// Bounds of what an operator is told: names are a stranger's.
const (
	maxNames = 20
	maxName  = 200
)

func shown(names []string) string {
	var s strings.Builder
	for i, name := range names {
		if i == maxNames {
			fmt.Fprintf(&s, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			s.WriteString(", ")
		}
		if len(name) > maxName {
			cut := maxName
			for cut > 0 && !utf8.RuneStart(name[cut]) {
				cut--
			}
			name = name[:cut] + "…"
		}
		fmt.Fprintf(&s, "%q", name)
	}
	return s.String()
}
