package mcptool

import (
	"io"
	"sync"
)

// lineWriter writes messages as lines, each whole.
type lineWriter struct {
	out    io.Writer
	failed func(error)

	turn chan struct{} // who holds its token writes
	gone chan struct{} // closed when nothing more is written
	once sync.Once
	line []byte
}

var _ stream = (*lineWriter)(nil)

func newLineWriter(out io.Writer, failed func(error)) *lineWriter {
	w := &lineWriter{out: out, failed: failed, turn: make(chan struct{}, 1), gone: make(chan struct{})}
	w.turn <- struct{}{}
	return w
}

func (w *lineWriter) send(m message) error {
	return w.write(m.append)
}

// write writes one line. Who waits for its turn behind a client that does not
// read gives up when the client is served no longer.
func (w *lineWriter) write(add func([]byte) []byte) error {
	select {
	case <-w.gone:
		return errGone
	case <-w.turn:
	}
	defer func() { w.turn <- struct{}{} }()
	select {
	case <-w.gone: // both were ready
		return errGone
	default:
	}
	w.line = append(add(w.line[:0]), '\n')
	_, err := w.out.Write(w.line)
	if cap(w.line) > 1<<20 {
		w.line = nil // a long line is rare
	}
	if err != nil {
		w.close()
		w.failed(err)
		return errGone
	}
	return nil
}

// close has nothing more written. A write that blocks is not waited for.
func (w *lineWriter) close() { w.once.Do(func() { close(w.gone) }) }

// answers are those of a batch, which go out together when all are there. What is
// no answer goes at once.
type batchAnswers struct {
	out *lineWriter

	mu      sync.Mutex
	all     []message
	waiting int
}

func (a *batchAnswers) send(m message) error {
	if !m.isAnswer() {
		return a.out.send(m)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, m)
	return nil
}

// done says that a request was handled, whether or not it was answered.
func (a *batchAnswers) done() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting--; a.waiting > 0 || len(a.all) == 0 {
		return
	}
	_ = a.out.write(func(b []byte) []byte { // the writer remembers that it failed
		for i, m := range a.all {
			b = append(b, "[,"[min(i, 1)])
			b = m.append(b)
		}
		return append(b, ']')
	})
}
