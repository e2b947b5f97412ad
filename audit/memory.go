package audit

import (
	"context"
	"iter"
	"sync"
)

// Memory is a log in memory. The zero value is ready; it must not be copied.
//
// It is for tests and for programs that end soon: it grows with every call. With
// Most it keeps that many rows and forgets the oldest, which [Verify] then says.
type Memory struct {
	Most int // 0: all

	mu    sync.Mutex
	enc   Encoder
	chain Chain
	rows  []linked // of a place: at place-1, or that modulo Most
	text  []byte   // room for lines: one is cut off it for each
}

// linked is a row in memory.
type linked struct {
	call string
	line []byte
	hash Hash
}

var _ Log = (*Memory)(nil)

const (
	// memoryWriter is the one writer of a log in memory.
	memoryWriter = "memory"
	// chunk is how much room for lines is made at once.
	chunk = 64 << 10
)

// Append takes events. It is never an error.
func (m *Memory) Append(events ...Event) (kept bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.chain.Number == 0 {
		m.chain.Mark = Begin(memoryWriter)
	}
	for i := range events {
		if events[i].Kind != Updated {
			m.add(&events[i])
		}
	}
	return true, nil
}

func (m *Memory) add(e *Event) {
	place := m.chain.Number + 1
	if m.Most > 0 && len(m.rows) == m.Most { // the oldest makes room
		r := &m.rows[(place-1)%int64(m.Most)]
		r.call, r.line = e.Call(), m.enc.Append(r.line[:0], e)
		r.hash = m.chain.Add(place, r.line)
		return
	}
	if cap(m.text)-len(m.text) < chunk/64 {
		m.text = make([]byte, 0, chunk)
	}
	start := len(m.text)
	m.text = m.enc.Append(m.text, e)
	line := m.text[start:len(m.text):len(m.text)]
	m.rows = append(m.rows, linked{e.Call(), line, m.chain.Add(place, line)})
}

// Flush does nothing: all is kept that can be.
func (m *Memory) Flush(context.Context) error { return nil }

// Mark is the end of the log.
func (m *Memory) Mark() Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.chain.Number == 0 {
		return Begin(memoryWriter)
	}
	return m.chain.Mark
}

// Rows gives what is kept, oldest first. What is appended meanwhile is among it.
func (m *Memory) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for place := int64(1); ; place++ {
			r, ok := m.row(place)
			if !ok || !yield(r, nil) {
				return
			}
			place = r.Place
		}
	}
}

// row is that of a place, or the oldest.
func (m *Memory) row(place int64) (Row, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	place = max(place, m.chain.Number-int64(len(m.rows))+1)
	if place > m.chain.Number {
		return Row{}, false
	}
	at := place - 1
	if m.Most > 0 {
		at %= int64(m.Most)
	}
	r := &m.rows[at]
	return Row{Place: place, Writer: memoryWriter, Number: place, Call: r.call, Line: string(r.line), Hash: r.hash}, true
}
