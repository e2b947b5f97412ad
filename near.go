package ferrule

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// nearby are names that are near to unknown ones. Looking for them goes over
// all tools, so each comparison is paid for with compareTime, up to savedTime
// ahead: a model that makes names up soon gets no more of them.
type nearby struct {
	mu    sync.Mutex
	known map[string][]string
	paid  time.Time // until then
}

const (
	compareTime = 100 * time.Microsecond // a hundred times what it takes
	savedTime   = 20 * time.Second
)

// notFound says what names of the set are near the one that was called.
func (s *toolset) notFound(name string) string {
	text := "Tool not found: " + name
	if len(name) > 128 {
		name = name[:128]
		text = "Tool not found: " + strings.ToValidUTF8(name, "") + "…"
	}
	if near := s.near(name); len(near) > 0 {
		text += ". Did you mean " + strings.Join(near, ", ") + "?"
	}
	return text
}

// near are the names of the set that are nearest to one; those that can be found
// are among them.
func (s *toolset) near(name string) []string {
	n := &s.nearby
	n.mu.Lock()
	defer n.mu.Unlock()
	near, ok := n.known[name]
	if now := time.Now(); !ok && n.paid.Sub(now) < savedTime {
		if n.paid.Before(now) {
			n.paid = now
		}
		n.paid = n.paid.Add(time.Duration(len(s.list)) * compareTime)
		near = nearest(name, s.list)
		keep(&n.known, name, near)
	}
	return near
}

// nearest are up to three names that differ little from the one given.
func nearest(name string, list []*entry) (names []string) {
	low := strings.ToLower(name)
	var far []int // for each of names
	var row []int
	for _, e := range list {
		other := strings.ToLower(e.wire)
		longer := max(len(low), len(other))
		bound := min(longer/3+1, longer-1, 6) // with nothing in common it is not near
		part := min(len(low), len(other)) >= 3 && (strings.Contains(other, low) || strings.Contains(low, other))
		most := bound
		if len(far) == 3 {
			most = min(most, far[2]-1)
		}
		row = slices.Grow(row[:0], len(other)+1)
		d := distance(low, other, most, row[:len(other)+1])
		if d > most && part {
			d = bound
		}
		if d > bound || len(far) == 3 && d >= far[2] {
			continue
		}
		i, _ := slices.BinarySearch(far, d+1) // behind those that are as near
		far, names = slices.Insert(far, i, d), slices.Insert(names, i, e.wire)
		far, names = far[:min(len(far), 3)], names[:min(len(names), 3)]
	}
	return names
}

// distance is how many letters must be changed to make b of a, or more than
// most. Row has room for b and one more.
func distance(a, b string, most int, row []int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		first := max(0, i-most) // what is further from the diagonal is too far
		diagonal := row[first]
		row[first] = i + 1
		least := row[first]
		for j := first; j < min(len(b), i+most+1); j++ {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
	}
	return row[len(b)]
}
