package durable

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// header is the first line of a file of [Dir]. The text begins right behind it.
type header struct {
	Version int   `json:"version"`
	Note    Note  `json:"note"`
	Size    int64 `json:"size"` // bytes of the text
}

const (
	headerVersion = 1
	maxHeader     = 16 << 10 // bytes, with the newline
)

// line is the header as it is written.
func (h header) line() ([]byte, error) {
	if !utf8.ValidString(h.Note.Source) || !utf8.ValidString(h.Note.Tool) {
		return nil, fmt.Errorf("note: got source %q and tool %q, want UTF-8", h.Note.Source, h.Note.Tool)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	if len(line) > maxHeader {
		return nil, fmt.Errorf("note: got %d bytes, want at most %d", len(line), maxHeader)
	}
	return line, nil
}

// readHeader reads the first line and says how long it is. The bytes may be
// anybody's.
func readHeader(r io.Reader) (h header, length int64, err error) {
	line, err := bufio.NewReaderSize(io.LimitReader(r, maxHeader), 1<<10).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return header{}, 0, fmt.Errorf("header: got no end of line in the first %d bytes", len(line))
	}
	if err != nil {
		return header{}, 0, fmt.Errorf("header: %w", err)
	}
	if err := json.Unmarshal(bytes.TrimSuffix(line, []byte("\n")), &h); err != nil {
		return header{}, 0, fmt.Errorf("header: %w", err)
	}
	if h.Version != headerVersion {
		return header{}, 0, fmt.Errorf("header: got version %d, want %d", h.Version, headerVersion)
	}
	if h.Size < 0 {
		return header{}, 0, fmt.Errorf("header: got a size of %d", h.Size)
	}
	return h, int64(len(line)), nil
}
