package mcptool

import (
	"errors"
	"io"
	"slices"
)

// chain is bytes that come bit by bit, nobody knows how many. What is there is not
// moved while it grows: a message of 10 MB that is read into one slice is copied
// five times over, and all that memory is to be collected while others wait.
type chain struct {
	least int // room of the first part; 0: 4 KiB
	parts [][]byte
	size  int
}

const (
	firstPart = 4 << 10
	mostPart  = 1 << 20
)

// room is free memory at the end, never none.
func (c *chain) room() []byte {
	n := len(c.parts)
	if n == 0 || len(c.parts[n-1]) == cap(c.parts[n-1]) {
		size := max(c.least, firstPart)
		if n > 0 {
			size = min(2*cap(c.parts[n-1]), mostPart)
		}
		c.parts = append(c.parts, make([]byte, 0, size))
		n++
	}
	last := c.parts[n-1]
	return last[len(last):cap(last)]
}

// grew says that so much of the room is used now.
func (c *chain) grew(n int) {
	last := &c.parts[len(c.parts)-1]
	*last = (*last)[:len(*last)+n]
	c.size += n
}

func (c *chain) add(b []byte) {
	for len(b) > 0 {
		n := copy(c.room(), b)
		c.grew(n)
		b = b[n:]
	}
}

// first is the beginning; nil: there is nothing.
func (c *chain) first() []byte {
	if len(c.parts) == 0 {
		return nil
	}
	return c.parts[0]
}

// bytes is all of it. The chain is not used any more.
func (c *chain) bytes() []byte {
	if len(c.parts) == 1 {
		return c.parts[0]
	}
	return slices.Concat(c.parts...)
}

// readBounded reads a message to its end; want is how long it is said to be, or -1.
// It reads no more than it must to see that there is too much.
func readBounded(r io.Reader, want int64, most int) ([]byte, error) {
	if want > int64(most) {
		return nil, &longMessage{most: most, size: int(want)}
	}
	if want >= 0 {
		b := make([]byte, want)
		n, err := io.ReadFull(r, b)
		return b[:n], err
	}
	var all chain
	for {
		n, err := r.Read(all.room())
		if all.grew(n); all.size > most {
			return nil, &longMessage{most: most}
		}
		if errors.Is(err, io.EOF) {
			return all.bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
