package durable

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Memory keeps texts in this process. The zero value is empty and ready; it must
// not be copied.
type Memory struct {
	// Max is how many bytes of text are kept in all; 0 means 256 MiB. When there
	// is no room the texts that were put longest ago go.
	Max int64

	mu     sync.Mutex
	byKey  map[key]*list.Element
	byTime list.List // of *kept, the one put last at the end
	owners map[string]int
	size   int64
}

var _ Blobs = (*Memory)(nil)

type key struct{ owner, handle string }

// kept is a text and when it was put last. The text never changes, so that who
// has it open needs no lock.
type kept struct {
	key
	note Note
	text *text
	put  time.Time
}

// Put keeps a text, as the parts that it is given.
func (m *Memory) Put(ctx context.Context, owner string, n Note, parts ...string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("blobs: put: %w", err)
	}
	most := m.Max
	if most == 0 {
		most = 256 << 20
	}
	t := newText(parts)
	if t.size() > most {
		return "", fmt.Errorf("blobs: put: got %d bytes, want at most %d", t.size(), most)
	}
	k := key{owner, Handle(owner, n, parts...)}

	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.byKey[k]; e != nil {
		e.Value.(*kept).put = time.Now()
		m.byTime.MoveToBack(e)
		return k.handle, nil
	}
	for m.size+t.size() > most {
		m.remove(m.byTime.Front())
	}
	if m.byKey == nil {
		m.byKey, m.owners = make(map[key]*list.Element), make(map[string]int)
	}
	m.byKey[k] = m.byTime.PushBack(&kept{k, n, t, time.Now()})
	m.owners[owner]++
	m.size += t.size()
	return k.handle, nil
}

func (m *Memory) remove(e *list.Element) {
	b := m.byTime.Remove(e).(*kept)
	delete(m.byKey, b.key)
	if m.owners[b.owner]--; m.owners[b.owner] == 0 {
		delete(m.owners, b.owner)
	}
	m.size -= b.text.size()
}

// Open gives a text. It stays readable when the store lets it go.
func (m *Memory) Open(ctx context.Context, owner, handle string) (*Blob, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("blobs: open: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byKey[key{owner, handle}]
	if e == nil {
		return nil, ErrNotFound
	}
	b := e.Value.(*kept)
	return &Blob{Note: b.note, Size: b.text.size(), ReaderAt: b.text, Closer: b.text}, nil
}

// Holds reports whether there is anything of an owner.
func (m *Memory) Holds(ctx context.Context, owner string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("blobs: holds: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owners[owner] > 0, nil
}

// Sweep removes what was last put before that time.
func (m *Memory) Sweep(ctx context.Context, before time.Time) (removed int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("blobs: sweep: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// All of them are looked at: a clock that was set back leaves the list in
	// the order of the puts, but not of their times.
	for e := m.byTime.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*kept).put.Before(before) {
			m.remove(e)
			removed++
		}
		e = next
	}
	return removed, nil
}

// text reads over parts as if they were one.
type text struct {
	parts []string // none of them empty
	ends  []int64  // where each ends in the whole
}

// newText keeps the strings but not the slice, which is the caller's.
func newText(parts []string) *text {
	t := &text{parts: make([]string, 0, len(parts)), ends: make([]int64, 0, len(parts))}
	var end int64
	for _, p := range parts {
		if p != "" {
			end += int64(len(p))
			t.parts, t.ends = append(t.parts, p), append(t.ends, end)
		}
	}
	return t
}

func (t *text) size() int64 {
	if len(t.ends) == 0 {
		return 0
	}
	return t.ends[len(t.ends)-1]
}

// ReadAt is that of [io.ReaderAt].
func (t *text) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errNegative
	}
	i, found := slices.BinarySearch(t.ends, off)
	if found { // off is where part i ends
		i++
	}
	for ; i < len(t.parts) && n < len(p); i++ {
		start := t.ends[i] - int64(len(t.parts[i]))
		n += copy(p[n:], t.parts[i][off+int64(n)-start:])
	}
	if i == len(t.parts) && (n < len(p) || n == 0) {
		return n, io.EOF
	}
	return n, nil
}

// Close has nothing to let go of.
func (t *text) Close() error { return nil }

var errNegative = errors.New("blobs: read at a negative offset")
