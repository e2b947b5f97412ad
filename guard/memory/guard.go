package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ferrule-dev/ferrule/tool"
)

// Tier is what a tool may do to the agent's memory.
type Tier string

// The tiers: see the package.
const (
	Pure      Tier = "pure"
	NoMemory  Tier = "no-memory"
	Aware     Tier = "memory-aware"
	Unknown   Tier = "unknown"
	Untrusted Tier = "untrusted"
)

func tiers() []Tier { return []Tier{Pure, NoMemory, Aware, Unknown, Untrusted} }

// Guard watches regions of memory while calls run. It is not changed once it is
// used; its methods are safe for concurrent use, and on nil, which watches nothing.
type Guard struct {
	// Regions are what is watched, by name. Their files and values must lie apart.
	Regions map[string]Region
	// Tools are tiers of tools, whatever those say of themselves: by the name that
	// models call them, by source__name, or by source__* for all of a source. The
	// most exact one counts. Of others Info.Memory is believed, but not that a
	// stranger's tool is memory-aware.
	Tools map[string]Tier

	once  sync.Once
	watch []*watch // by name
}

// Check says what is wrong with the settings.
func (g *Guard) Check() error {
	if g == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(g.Regions)) {
		if name == "" || g.Regions[name] == nil {
			return fmt.Errorf("memory: region %q: got no name or no region, want both", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Tools)) {
		if !slices.Contains(tiers(), g.Tools[name]) {
			return fmt.Errorf("memory: tier of %q: got %q, want one of %q", name, g.Tools[name], tiers())
		}
	}
	return nil
}

// Watches reports whether there is anything to watch.
func (g *Guard) Watches() bool { return g != nil && len(g.Regions) > 0 }

// TierOf is the tier of a call.
func (g *Guard) TierOf(r *tool.Request) Tier {
	if g != nil && len(g.Tools) > 0 {
		for _, name := range []string{r.Name, r.OwnName(), r.Source.Name + "__*"} {
			if t, ok := g.Tools[name]; ok {
				return t
			}
		}
	}
	if r.Tool == nil {
		return Unknown
	}
	switch t := Tier(r.Tool.Memory); t {
	case Pure, NoMemory, Untrusted:
		return t
	case Aware:
		if !r.Source.Trust.Untrusted() {
			return t
		}
	case Unknown:
	}
	return Unknown
}

// watches are made when they are first needed.
func (g *Guard) watches() []*watch {
	if !g.Watches() {
		return nil
	}
	g.once.Do(func() {
		for _, name := range slices.Sorted(maps.Keys(g.Regions)) {
			g.watch = append(g.watch, newWatch(name, g.Regions[name]))
		}
	})
	return g.watch
}

func (g *Guard) find(region string) (*watch, error) {
	for _, w := range g.watches() {
		if w.name == region {
			return w, nil
		}
	}
	return nil, fmt.Errorf("memory: there is no region %q", region)
}

// Change lets the host change a region while calls may run: all that f changes
// there is expected from then on, whatever it returns. What others change while f
// runs is not told from it. f must not use the guard. While calls run, a change that
// cannot be copied is undone.
func (g *Guard) Change(ctx context.Context, region string, f func(context.Context) error) error {
	w, err := g.find(region)
	if err != nil {
		return err
	}
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if err := w.verify(ctx, false); err != nil {
		return err
	}
	err = f(ctx)
	if w.idle() {
		return errors.Join(err, w.forget())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	snap, err2 := w.take(ctx)
	if err2 == nil {
		return errors.Join(err, w.expect(snap))
	}
	left := w.restore(ctx) // what cannot be copied cannot be guarded; no call is to blame
	if left != nil {
		w.doubts(left)
	}
	return errors.Join(err, err2, left)
}
