package audit_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// entriesOf reads what a log in memory keeps.
func entriesOf(m *audit.Memory) (all []audit.Entry, err error) {
	for r, err := range m.Rows() {
		if err != nil {
			return nil, err
		}
		e, err := r.Entry()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func TestMemory(t *testing.T) {
	t.Parallel()
	tooltest.Log(t, func(*testing.T) (audit.Log, func() ([]audit.Entry, error)) {
		m := new(audit.Memory)
		return m, func() ([]audit.Entry, error) { return entriesOf(m) }
	})
	t.Run("U1 a log of a certain size keeps what is newest", func(t *testing.T) {
		t.Parallel()
		m := &audit.Memory{Most: 3}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			if _, err := m.Append(audit.Event{Kind: audit.Found, Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := entriesOf(m)
		if err != nil || len(all) != 3 || all[0].Tool != "c" || all[2].Tool != "e" {
			t.Errorf("got %+v, %v, want c, d, e", all, err)
		}
		if report, err := audit.Verify(m.Rows(), nil); err != nil || len(report.Faults) != 2 || report.Faults[0].Place != 1 {
			t.Errorf("got %+v, %v, want that the first are missing", report, err)
		}
	})
}

// buffer is a writer for several goroutines.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func TestLines(t *testing.T) {
	t.Parallel()
	tooltest.Log(t, func(*testing.T) (audit.Log, func() ([]audit.Entry, error)) {
		w := new(buffer)
		return audit.NewLines(w), func() (all []audit.Entry, err error) {
			for line := range strings.Lines(w.String()) {
				e, err := audit.ParseEntry(strings.TrimSuffix(line, "\n"))
				if err != nil {
					return nil, err
				}
				all = append(all, e)
			}
			return all, nil
		}
	})
	t.Run("U1 what cannot be written is an error, for ever", func(t *testing.T) {
		t.Parallel()
		for _, w := range []*failing{{err: errors.New("no room")}, {short: true}} {
			l := audit.NewLines(w)
			for range 2 {
				if _, err := l.Append(audit.Event{Kind: audit.Found}); err == nil {
					t.Error("Append: got no error")
				}
				if err := l.Flush(t.Context()); err == nil {
					t.Error("Flush: got no error")
				}
			}
			if w.calls != 1 {
				t.Errorf("got %d writes, want 1", w.calls)
			}
		}
	})
}

// failing is a writer that cannot write, or not all.
type failing struct {
	err   error
	short bool
	calls int
}

func (f *failing) Write(p []byte) (int, error) {
	f.calls++
	if f.short {
		return len(p) - 1, nil
	}
	return 0, f.err
}

var _ io.Writer = (*failing)(nil)
