package secret

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A value that was given out is looked for until nobody can have it any more. The
// vault does not know which calls still run: it forgets a value when it was last
// given out keptFor ago, and is none of the keptLast that its secret had last.
const (
	keptFor  = time.Hour
	keptLast = 8
)

// Bounds of what is looked for at once. Beyond them no further value is given out.
const (
	maxLive     = 10_000
	maxLiveSize = 1 << 20
)

// groupSize is how many values are in one table, which is made anew for each
// value that comes or goes.
const groupSize = 128

// live is a value that was given out.
type live struct {
	name, value string
	last        time.Time // when it was given out
	group       *group
}

// group are values that are looked for by one table.
type group struct {
	values []*live
	table  *table // nil: to be made
}

// shared are the values that were given out.
type shared struct {
	mu     sync.Mutex
	values map[string][]*live // by name, and the one that was given out last at the end
	groups []*group
	count  int
	size   int // of all values, in bytes
	pool   sync.Pool
	scan   atomic.Pointer[scanner] // nil: there are none
}

func newShared() *shared { return &shared{values: make(map[string][]*live)} }

// remember has a value found from now on. Where that cannot be, it must not be
// given out.
func (s *shared) remember(name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, known := time.Now(), s.values[name]
	for i, l := range slices.Backward(known) {
		if l.value == value {
			l.last = now
			s.values[name] = append(slices.Delete(known, i, i+1), l)
			return nil
		}
	}
	s.forget(now, name)
	if s.count >= maxLive || s.size+len(value) > maxLiveSize {
		return fmt.Errorf("refused: %d other values, of %d bytes in all, were given out in the last %s, and no more than %d, or %d bytes, can be kept out of results at once: use a value that lasts longer", s.count, s.size, keptFor, maxLive, maxLiveSize)
	}
	l := &live{name: name, value: value, last: now}
	s.values[name] = append(s.values[name], l)
	s.count, s.size = s.count+1, s.size+len(value)
	if n := len(s.groups); n == 0 || len(s.groups[n-1].values) == groupSize {
		s.groups = append(s.groups, new(group))
	}
	l.group = s.groups[len(s.groups)-1]
	l.group.values, l.group.table = append(l.group.values, l), nil
	s.make()
	return nil
}

// forget drops the values that nobody can have any more, before one of next comes.
// They are found until the scanner is made.
func (s *shared) forget(now time.Time, next string) {
	for name, known := range s.values {
		keep := keptLast
		if name == next {
			keep--
		}
		for len(known) > keep && now.Sub(known[0].last) > keptFor {
			l := known[0]
			known = known[1:]
			s.count, s.size = s.count-1, s.size-len(l.value)
			l.group.values = slices.DeleteFunc(l.group.values, func(other *live) bool { return other == l })
			l.group.table = nil
		}
		s.values[name] = known
	}
	s.groups = slices.DeleteFunc(s.groups, func(g *group) bool { return len(g.values) == 0 })
}

// make makes the scanner for all values.
func (s *shared) make() {
	var tables []*table
	for _, g := range s.groups {
		if g.table == nil {
			var needles []needle
			for _, l := range g.values {
				needles = append(needles, needlesOf(l.name, l.value)...)
			}
			g.table = newTable(needles)
		}
		tables = append(tables, g.table)
	}
	s.scan.Store(newScanner(tables, slices.Collect(maps.Keys(s.values)), &s.pool))
}
