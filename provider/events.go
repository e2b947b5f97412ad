package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxEvent is how long the data of one event, and one line of it, may be, and maxStream
// how long all of a stream: some hundred bytes for each token of a long answer.
const (
	maxEvent  = 16 << 20
	maxStream = 128 << 20
)

// events reads server-sent events, in whatever pieces they arrive, and calls each
// with every event that has data as soon as the empty line behind it is there. The
// data is each's until it returns. What each returns ends the reading: io.EOF
// with nil, for an event that is known to be the last, anything else with itself.
//
// At the end of the body an event that lacks its empty line counts if its data is
// whole, and is io.ErrUnexpectedEOF otherwise: servers exist that leave the line out.
func events(r io.Reader, each func(name string, data []byte) error) error {
	e := eventReader{each: each}
	in := bufio.NewReaderSize(r, 16<<10)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = in.Discard(len(mark)) // they are there
	}
	for n := 0; ; {
		_, err := in.Peek(1)
		chunk, _ := in.Peek(in.Buffered()) // so much is there
		if n += len(chunk); n > maxStream {
			return fmt.Errorf("stream: got more than %d bytes, want at most that", maxStream)
		}
		if err2 := e.take(chunk); err2 != nil {
			if errors.Is(err2, io.EOF) {
				return nil
			}
			return err2
		}
		_, _ = in.Discard(len(chunk))
		if errors.Is(err, io.EOF) {
			return e.end()
		}
		if err != nil {
			return err
		}
	}
}

// eventReader is what is known of the event that is being read.
type eventReader struct {
	each func(name string, data []byte) error
	line []byte // of the line, what earlier chunks had
	cr   bool   // the last line ended with a CR: a LF belongs to it
	name string
	data []byte // each line of it with its LF
}

// take reads a chunk.
func (e *eventReader) take(chunk []byte) error {
	for len(chunk) > 0 {
		if e.cr && chunk[0] == '\n' {
			chunk = chunk[1:]
			e.cr = false
			continue
		}
		e.cr = false
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			i = len(chunk)
		}
		if cr := bytes.IndexByte(chunk[:i], '\r'); cr >= 0 {
			i = cr
		}
		if len(e.line)+i > maxEvent {
			return fmt.Errorf("event: got a line of more than %d bytes, want at most that", maxEvent)
		}
		if i == len(chunk) {
			e.line = append(e.line, chunk...)
			return nil
		}
		line := chunk[:i]
		if len(e.line) > 0 {
			line = append(e.line, line...)
			e.line = line[:0]
		}
		e.cr = chunk[i] == '\r'
		chunk = chunk[i+1:]
		if err := e.whole(line); err != nil {
			return err
		}
	}
	return nil
}

// whole reads one line, without its end.
func (e *eventReader) whole(line []byte) error {
	if len(line) == 0 {
		return e.tell()
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) { // a comment has no name
	case "event":
		e.name = string(value)
	case "error", "data":
		if len(field) == len("error") { // llama.cpp has a field for what goes wrong
			e.name = "error"
		}
		if len(e.data)+len(value) > maxEvent {
			return fmt.Errorf("event: got more than %d bytes of data, want at most that", maxEvent)
		}
		e.data = append(append(e.data, value...), '\n')
	}
	return nil
}

// tell calls each with the event, if it has data.
func (e *eventReader) tell() error {
	name, data := e.name, bytes.TrimSuffix(e.data, []byte("\n"))
	e.name, e.data = "", e.data[:0]
	if len(data) == 0 {
		return nil
	}
	return e.each(name, data)
}

// end is the end of the body.
func (e *eventReader) end() error {
	if len(e.line) > 0 {
		if err := e.whole(e.line); err != nil {
			return err
		}
	}
	if len(e.data) == 0 {
		return nil
	}
	if text := bytes.TrimSpace(e.data); !json.Valid(text) && string(text) != "[DONE]" {
		return io.ErrUnexpectedEOF
	}
	if err := e.tell(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
