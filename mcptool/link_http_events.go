package mcptool

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// sseEvent is one server-sent event, as far as MCP has a use for it.
type sseEvent struct {
	kind  string // "" and "message" carry messages
	id    string // "": it has none
	data  []byte // nil: none, as of an event that only gives an id to resume from
	retry time.Duration
	waits bool // it says retry
}

// sseReader reads a stream of server-sent events (WHATWG HTML, section 9.2).
type sseReader struct {
	in     *bufio.Reader
	limit  int    // of one event, in bytes
	used   int    // by the event that is being read
	line   []byte // that was read last
	fresh  bool   // nobody else has its memory
	begun  bool   // the first line has been read: no byte order mark can follow
	afterC bool   // the last line ended with CR, and LF may follow
}

func newSSE(r io.Reader, limit int) *sseReader {
	return &sseReader{in: bufio.NewReader(r), limit: limit}
}

// next is the next event that says anything. The error is io.EOF at the end of
// the stream. An event that the end cuts off is given without its id: it may be
// whole but for the blank line, and if it is not, it must be asked for again.
func (e *sseReader) next() (sseEvent, error) {
	e.used = 0
	var v sseEvent
	said := false
	for {
		err := e.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return sseEvent{}, err
		}
		switch {
		case len(e.line) > 0:
			said = v.add(e.line, e.fresh) || said
		case err == nil && said:
			return v, nil
		case err == nil:
			e.used = 0 // blank lines and comments between events
		}
		if err != nil {
			if v.data == nil {
				return sseEvent{}, err
			}
			v.id = ""
			return v, nil
		}
	}
}

// add takes one line, and says whether it means anything. fresh: the memory of the
// line may be kept.
func (v *sseEvent) add(line []byte, fresh bool) bool {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "event":
		v.kind = string(value)
	case "data":
		switch {
		case v.data != nil:
			v.data = append(append(v.data, '\n'), value...)
		case fresh && len(value) > 0: // empty data is data
			v.data = value
		default:
			v.data = append(make([]byte, 0, len(value)), value...)
		}
	case "id":
		// What cannot be sent back in a header is no id.
		if len(value) > maxEventID || !headerSafe(value) {
			return false
		}
		v.id = string(value)
	case "retry":
		ms, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil {
			return false
		}
		v.retry, v.waits = time.Duration(ms)*time.Millisecond, true
	default: // a comment, or a field that is not known
		return false
	}
	return true
}

// readLine reads a line that ends with LF, CR or CR LF, without its end. A CR is
// not waited after: the LF may never come.
func (e *sseReader) readLine() error {
	if e.line = e.line[:0]; e.fresh {
		e.line, e.fresh = nil, false
	}
	var long chain // what does not fit into one buffer
	for {
		if _, err := e.in.Peek(1); err != nil {
			e.line = long.bytes()
			return err
		}
		part, _ := e.in.Peek(e.in.Buffered())
		if e.afterC {
			e.afterC = false
			if part[0] == '\n' {
				_, _ = e.in.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(part, "\r\n")
		if end >= 0 {
			e.afterC = part[end] == '\r'
			part = part[:end]
		}
		if e.used += len(part); end >= 0 {
			e.used++
		}
		if e.used > e.limit {
			return &longMessage{most: e.limit}
		}
		if end >= 0 && long.size == 0 {
			e.line = append(e.line, part...)
		} else {
			long.add(part)
		}
		_, _ = e.in.Discard(len(part))
		if end >= 0 {
			_, _ = e.in.Discard(1)
			if long.size > 0 {
				e.line, e.fresh = long.bytes(), true
			}
			if !e.begun {
				e.begun = true
				e.line = bytes.TrimPrefix(e.line, []byte("\xef\xbb\xbf"))
			}
			return nil
		}
	}
}

// maxEventID is how long an id of an event or of a session may be.
const maxEventID = 4 << 10

// headerSafe says whether a value can be sent in a header as it is.
func headerSafe[T string | []byte](value T) bool {
	for i := range len(value) {
		if value[i] < 0x20 || value[i] == 0x7f {
			return false
		}
	}
	return true
}
