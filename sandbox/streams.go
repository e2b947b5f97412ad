package sandbox

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// streams are the three files of a command and what is at their other ends. What
// the command prints always goes through here, never straight into a file of the
// host: so it can be counted.
type streams struct {
	files   [3]*os.File
	ours    []*os.File // to be closed when the command has them
	in      *os.File   // our end of stdin, where there is one
	stdin   io.Reader
	out     []outlet
	copying sync.WaitGroup
	left    atomic.Int64  // bytes that may still be printed
	over    chan struct{} // closed when more was printed
	once    sync.Once
}

// outlet is one stream of output.
type outlet struct {
	from *os.File
	to   io.Writer
}

func newStreams(c Command, limit int64) (*streams, error) {
	s := &streams{over: make(chan struct{})}
	s.left.Store(limit)
	err := s.open(c)
	if err != nil {
		s.started()
		s.abandon()
		return nil, fmt.Errorf("sandbox: files of a command: %w", err)
	}
	return s, nil
}

func (s *streams) open(c Command) error {
	if file, ok := c.Stdin.(*os.File); ok {
		s.files[0] = file
	} else if c.Stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		s.files[0], s.ours = null, append(s.ours, null)
	} else {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.files[0], s.ours, s.in, s.stdin = r, append(s.ours, r), w, c.Stdin
	}
	for i, to := range []io.Writer{c.Stdout, c.Stderr} {
		if i == 1 && same(c.Stdout, c.Stderr) {
			s.files[2] = s.files[1]
			break
		}
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		if to == nil {
			to = io.Discard
		}
		s.files[i+1], s.ours = w, append(s.ours, w)
		s.out = append(s.out, outlet{r, to})
	}
	return nil
}

// same says whether two writers are one. Writers that cannot be compared are
// two.
func same(a, b io.Writer) (equal bool) {
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()
	return a == b
}

// started closes what now belongs to the command.
func (s *streams) started() {
	for _, f := range s.ours {
		f.Close()
	}
}

// abandon closes the rest, where there is no command.
func (s *streams) abandon() {
	if s.in != nil {
		s.in.Close()
	}
	for _, o := range s.out {
		o.from.Close()
	}
}

func (s *streams) copy() {
	if s.in != nil {
		// Nobody waits for this one: a reader may block for ever, and the command
		// has ended all the same.
		go func() {
			_, _ = io.Copy(s.in, s.stdin) // a command need not read all
			s.in.Close()
		}()
	}
	for _, o := range s.out {
		s.copying.Go(func() { s.drain(o) })
	}
}

// drain copies until the last process that could print is gone. A writer that
// fails gets nothing more; the command does not notice.
func (s *streams) drain(o outlet) {
	buffer := make([]byte, 32<<10)
	var failed bool
	for {
		n, err := o.from.Read(buffer)
		left := s.left.Add(-int64(n))
		if left < 0 {
			s.once.Do(func() { close(s.over) })
		}
		if n = int(max(0, min(int64(n), int64(n)+left))); n > 0 && !failed {
			_, werr := o.to.Write(buffer[:n])
			failed = werr != nil
		}
		if err != nil {
			return
		}
	}
}

// wait waits for the rest of the output of a command that has ended. Nobody alive
// holds the other end then; should it be so all the same, that is not waited for.
func (s *streams) wait() {
	for _, o := range s.out {
		_ = o.from.SetReadDeadline(time.Now().Add(5 * time.Second)) // a pipe has deadlines
	}
	s.copying.Wait()
	for _, o := range s.out {
		o.from.Close()
	}
	if s.in != nil {
		s.in.Close()
	}
}
