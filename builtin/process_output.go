package builtin

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// processComplaints is how much of stderr is kept apart, to explain a failure.
const processComplaints = 16 << 10

// processOutput is what a command prints. While its call waits it is streamed, and
// kept up to a limit. In the background the last of it is kept, and read piece by
// piece.
type processOutput struct {
	over chan struct{} // closed when there was more than the limit

	mu       sync.Mutex
	streams  [2]io.Writer // stdout and stderr of the call; nil once it has ended
	kept     []byte
	first    int64 // the place of kept[0] in all of it
	most     int   // bytes that are kept
	rolls    bool  // the oldest goes; else nothing more is taken
	read     int64 // up to where it was read
	stderr   []byte
	news     chan struct{} // closed when there is more; nil: nobody waits
	exceeded bool
}

func newProcessOutput(most int, stdout, stderr io.Writer) *processOutput {
	return &processOutput{over: make(chan struct{}), most: most, streams: [2]io.Writer{stdout, stderr}}
}

// writer is one of the two streams.
func (o *processOutput) writer(stderr bool) io.Writer { return &processWriter{o, stderr} }

type processWriter struct {
	out    *processOutput
	stderr bool
}

// Write takes what it may. That it took all is not true once there was too much,
// but a command that is about to be ended need not know.
func (w *processWriter) Write(b []byte) (int, error) {
	n, o := len(b), w.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := o.most - len(o.kept); !o.rolls && len(b) > room {
		b = b[:max(room, 0)]
		if !o.exceeded {
			o.exceeded = true
			close(o.over)
		}
	}
	if len(b) == 0 {
		return n, nil
	}
	o.kept = append(o.kept, b...)
	if o.rolls && len(o.kept) > 2*o.most {
		o.roll()
	}
	to := o.streams[0]
	if w.stderr {
		to = o.streams[1]
		o.stderr = append(o.stderr, b...)
		if extra := len(o.stderr) - processComplaints; extra > processComplaints {
			o.stderr = append(o.stderr[:0], o.stderr[extra:]...)
		}
	}
	if to != nil {
		_, _ = to.Write(b) // who only looks is not missed
	}
	if o.news != nil {
		close(o.news)
		o.news = nil
	}
	return n, nil
}

// roll lets go of what is too old.
func (o *processOutput) roll() {
	if extra := len(o.kept) - o.most; extra > 0 {
		o.kept = append(make([]byte, 0, 2*o.most), o.kept[extra:]...)
		o.first += int64(extra)
	}
}

// leave is for a command that goes on without its call: what there is so far is
// given out and counts as read. More than a page would be cut from the result;
// it is left to be read.
func (o *processOutput) leave(most int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams = [2]io.Writer{}
	end := o.whole(min(len(o.kept), processPage))
	text := string(o.kept[:end])
	o.read = o.first + int64(end)
	o.most, o.rolls = most, true
	o.roll()
	return text
}

// whole is n, or less where a character has come only in part.
func (o *processOutput) whole(n int) int {
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if b := o.kept[n-back]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(o.kept[n-back:n]) {
				return n - back
			}
			break
		}
	}
	return n
}

// all is what is kept.
func (o *processOutput) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.kept)
}

// full reports whether there was more than the limit.
func (o *processOutput) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.exceeded
}

// complaints is the last of stderr.
func (o *processOutput) complaints() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.stderr)
}

// unread is how many bytes were printed since the last read.
func (o *processOutput) unread() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.first + int64(len(o.kept)) - o.read
}

// piece is what one read gives.
type processPiece struct {
	text    string
	dropped int64 // bytes before it that are gone
	next    int64 // the place behind it
	more    bool  // there is more already
}

// take reads from a place on, or from where the last read ended: that is moved
// on under the lock, so that of two reads at once each has what the other has
// not. Of lines that are chosen only whole ones are read, unless it is the last
// (ended). The channel is closed when there is more than now.
func (o *processOutput) take(from *int64, chosen func(line string) bool, ended bool) (processPiece, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rolls {
		o.roll()
	}
	at := o.read
	if from != nil {
		at = min(max(*from, 0), o.first+int64(len(o.kept)))
	}
	piece := processPiece{dropped: max(o.first-at, 0)}
	start := int(max(at-o.first, 0))
	end := len(o.kept)
	var b strings.Builder
	if chosen == nil {
		end = min(end, start+processPage)
		if !ended || end < len(o.kept) {
			end = max(o.whole(end), start)
		}
		b.Write(o.kept[start:end])
	} else {
		end = start
		for line := range strings.Lines(string(o.kept[start:])) {
			if !strings.HasSuffix(line, "\n") && !ended || b.Len()+len(line) > processPage && b.Len() > 0 {
				break
			}
			end += len(line)
			if chosen(strings.TrimRight(line, "\r\n")) {
				b.WriteString(line)
			}
		}
	}
	piece.text, piece.next, piece.more = b.String(), o.first+int64(end), end < len(o.kept)
	o.read = max(o.read, piece.next)
	if o.news == nil {
		o.news = make(chan struct{})
	}
	return piece, o.news
}
