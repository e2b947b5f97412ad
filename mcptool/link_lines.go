package mcptool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lines reads lines that are not empty. Each is memory of its own, since parts of
// messages are kept. One that is too long is skipped, and nothing of it is kept but
// where it begins and ends: what is read after it is as good as before.
type lines struct {
	r    *bufio.Reader
	most int // bytes of a line, with its end
	// skip is how long a line may be that is skipped, in bytes: then reading ends.
	// 0: that is not bounded.
	skip int
	// early is told of a line as soon as it is too long, before it is skipped. Nil:
	// nobody is.
	early func(*longMessage)
}

// lineBuffer is what is read at once.
const lineBuffer = 64 << 10

func newLines(r io.Reader, most int) *lines {
	return &lines{r: bufio.NewReaderSize(r, lineBuffer), most: most}
}

// next is the next line without its end. The last one need not have an end. After
// a *longMessage that is not endless reading goes on with the line after it.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.whole()
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lines) whole() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) && len(part) <= l.most {
		return bytes.Clone(part), err
	}
	line := chain{least: lineBuffer}
	for {
		if line.size+len(part) > l.most {
			return nil, l.tooLong(&line, part, err)
		}
		line.add(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line.bytes(), err
		}
		part, err = l.r.ReadSlice('\n')
	}
}

// tooLong skips the rest of a line. A line that ends because reading does is one
// too.
func (l *lines) tooLong(line *chain, part []byte, err error) error {
	long := &longMessage{most: l.most}
	if first := line.first(); first != nil {
		long.head = bytes.Clone(first[:min(len(first), maxEnds)])
	} else {
		long.head = bytes.Clone(part[:min(len(part), maxEnds)])
	}
	size := line.size
	*line = chain{} // it need not be there while the rest is read
	if l.early != nil {
		l.early(&longMessage{most: l.most, head: long.head}) // who is told has it while the rest is read
	}
	for {
		size += len(part)
		long.tail = append(long.tail, part[max(0, len(part)-maxEnds):]...)
		long.tail = append(long.tail[:0], long.tail[max(0, len(long.tail)-maxEnds):]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			long.size = size
			return long
		}
		if l.skip > 0 && size > l.skip {
			long.endless = true
			return long
		}
		part, err = l.r.ReadSlice('\n')
	}
}

// errLong is in the tree of an error about a message that is too long.
var errLong = errors.New("a message is too long")

// maxEnds is what is kept of a message that is too long, from either end.
const maxEnds = 4 << 10

// longMessage is one that is longer than may be.
type longMessage struct {
	most int
	size int // 0: it is not known
	// endless: it goes on, and so nothing that comes after it can be read.
	endless    bool
	head, tail []byte
}

func (e *longMessage) Error() string {
	text := fmt.Sprintf("a message is longer than %d bytes", e.most)
	if e.size > 0 {
		text += fmt.Sprintf(": it has %d", e.size)
	}
	return text
}

func (e *longMessage) Unwrap() error { return errLong }

// answers is the id of what it answers, where that can be seen: most that write
// messages have it at one of the ends. maybe: it answers something, or may.
func (e *longMessage) answers() (id []byte, maybe bool) {
	s := scanner{b: e.head}
	s.space()
	if s.peek() == '[' {
		return nil, true // a batch
	}
	if s.peek() != '{' {
		return nil, false
	}
	s.i++
	for s.space(); ; {
		name, ok := s.name()
		if !ok {
			break
		}
		at := s.i
		if name == "method" {
			return nil, false
		}
		if !s.value() {
			break
		}
		if name == "id" {
			id = s.b[at:s.i]
		}
		if more, ok := s.more('}'); !more || !ok {
			break
		}
	}
	if id == nil {
		id = lastID(e.tail)
	}
	return id, true
}

// lastID is the id of a message that ends like this; nil: it is not there.
func lastID(tail []byte) []byte {
	at := bytes.LastIndex(tail, []byte(`"id"`))
	if at < 0 {
		return nil
	}
	s := scanner{b: tail, i: at}
	var id []byte
	for {
		name, ok := s.name()
		from := s.i
		if !ok || !s.value() {
			return nil
		}
		if name == "id" {
			id = s.b[from:s.i]
		}
		switch more, ok := s.more('}'); {
		case !ok:
			return nil
		case !more && s.atEnd():
			return id
		case !more:
			return nil
		}
	}
}

// name reads the name of a member, up to its value.
func (s *scanner) name() (string, bool) {
	from := s.i
	if !s.key() {
		return "", false
	}
	return unquote(bytes.TrimRight(s.b[from:s.i], ": \n\t\r"))
}
