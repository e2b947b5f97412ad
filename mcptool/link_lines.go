package mcptool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

var errLongLine = fmt.Errorf("a message is longer than %d bytes", maxLine)

// lines reads lines that are not empty. Each is memory of its own, since parts of
// messages are kept.
type lines struct {
	r    *bufio.Reader
	most int
}

func newLines(r io.Reader) *lines {
	return &lines{bufio.NewReaderSize(r, 64<<10), maxLine}
}

// next is the next line without its end. The last one need not have an end.
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
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.most {
			return nil, errLongLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
