package redact

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"sync"
)

const (
	maxValues = 10_000  // values that a session keeps
	maxBytes  = 4 << 20 // and their bytes
	minKnown  = 12      // a shorter value is not looked for where nothing else speaks for it
	maxKnown  = 4 << 10
	prefix    = 8 // bytes that known values are looked up by
	maxSame   = 8 // known values with the same prefix

	// A foreign text cannot drive numbers out of the form of placeholders.
	maxForeign = 1_000_000_000
)

// entry is a value and its placeholder. A function prints as its address.
type entry struct {
	placeholder string
	value       func() string // nil: not kept
	number      bool          // the value was a number of JSON
	known       bool          // it is found without its surroundings; guarded by the book
}

// book is what a session has given out. It is safe for concurrent use.
type book struct {
	mu      sync.RWMutex
	values  map[[sha256.Size]byte]*entry
	given   map[string]*entry // by placeholder
	next    map[string]int64  // by the head of a placeholder with its kind
	floor   int64             // foreign texts have used lower numbers
	bytes   int
	known   map[uint64][]*entry // secrets by prefix
	filter  [1 << 10]uint64     // of prefixes: most places of a text need no look in the map
	learned int                 // how many are known
	max     int
}

func newBook(most int) *book {
	if most <= 0 || most > maxValues {
		most = maxValues
	}
	return &book{
		values: make(map[[sha256.Size]byte]*entry),
		given:  make(map[string]*entry),
		next:   make(map[string]int64),
		known:  make(map[uint64][]*entry),
		max:    most,
	}
}

// reserve keeps numbers that foreign texts use from being given out, and returns
// the forms that are placeholders of ours.
func (b *book) reserve(text string, found []hole) []hole {
	if len(found) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ours := found[:0]
	for _, h := range found {
		if b.given[text[h.start:h.end]] != nil {
			ours = append(ours, h)
		} else if h.number < maxForeign {
			b.floor = max(b.floor, h.number+1)
		}
	}
	return ours
}

// put gives the placeholder of a value.
func (b *book) put(value string, m mark, number bool) string {
	head := secretHead
	if m.personal {
		head = personalHead
	}
	head += m.Kind
	sum := sumOf(value, m.personal, number)
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.values[sum]; e != nil {
		return e.placeholder
	}
	if len(b.values) >= b.max || b.bytes+len(value) > maxBytes {
		e := &entry{placeholder: head + "]", number: number}
		b.given[e.placeholder] = e
		return e.placeholder
	}
	n := max(b.next[head], b.floor, 1)
	b.next[head] = n + 1
	kept := strings.Clone(value)
	e := &entry{
		placeholder: head + ":" + strconv.FormatInt(n, 10) + "]",
		value:       func() string { return kept },
		number:      number,
	}
	b.values[sum], b.given[e.placeholder] = e, e
	b.bytes += len(value)
	if !m.personal && !number {
		b.learn(e, kept)
	}
	return e.placeholder
}

// sumOf is what a value is looked up by. The same value as a number of JSON is
// another one: it goes back without quotes.
func sumOf(value string, personal, number bool) [sha256.Size]byte {
	key := make([]byte, 0, 64+len(value))
	key = strconv.AppendBool(strconv.AppendBool(key, personal), number)
	return sha256.Sum256(append(key, value...))
}

// learn makes a value be found without its surroundings.
func (b *book) learn(e *entry, value string) {
	if len(value) < minKnown || len(value) > maxKnown {
		return
	}
	key := load(value)
	if len(b.known[key]) >= maxSame {
		return
	}
	b.known[key] = append(b.known[key], e)
	e.known = true
	h := filterOf(key)
	b.filter[h>>6] |= 1 << (h & 63)
	b.learned++
}

// load is the prefix of a text as a number.
func load(text string) uint64 {
	_ = text[prefix-1]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

func filterOf(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 48 }

// again appends the places of known values.
func (b *book) again(marks []mark, text string) []mark {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.learned == 0 || len(text) < minKnown {
		return marks
	}
	for i := 0; i+prefix <= len(text); i++ {
		key := load(text[i:])
		if h := filterOf(key); b.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, e := range b.known[key] {
			if v := e.value(); strings.HasPrefix(text[i:], v) {
				marks = append(marks, mark{Span: Span{i, i + len(v), kindIn(e.placeholder)}})
				i += len(v) - 1
				break
			}
		}
	}
	return marks
}

// kindIn is the kind in a placeholder of a secret.
func kindIn(placeholder string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(placeholder, secretHead), ":")
	return kind
}

// count is how many values are known by themselves.
func (b *book) count() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.learned
}

func (b *book) entry(placeholder string) *entry {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.given[placeholder]
}
