package memory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"slices"
)

// dirSnapshot is what a folder held.
type dirSnapshot struct {
	dir  *Dir
	was  folder
	hash string
	copy *content
}

// Snapshot copies all files.
func (d *Dir) Snapshot(ctx context.Context) (Snapshot, error) {
	c := &content{light: cmp.Or(d.light, maxInMemory)}
	was, err := d.walk(ctx, func(ctx context.Context, d *Dir, p place) (sum [sha256.Size]byte, at int64, err error) {
		at = c.size
		sum, err = d.read(ctx, p, c)
		return sum, at, err
	})
	if err == nil {
		err = was.special()
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return &dirSnapshot{d, was, was.hash(), c}, nil
}

func (s *dirSnapshot) Hash() string { return s.hash }

// Changed is for [Snapshot].
func (s *dirSnapshot) Changed(ctx context.Context) (names []string, err error) {
	now, err := s.dir.walk(ctx, exactly)
	if err != nil {
		return nil, err
	}
	for i := range now {
		if was, ok := s.was.find(now[i].path); !ok || !was.same(&now[i]) {
			names = append(names, now[i].path)
		}
	}
	for i := range s.was {
		if _, ok := now.find(s.was[i].path); !ok {
			names = append(names, s.was[i].path)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Light is for [Snapshot].
func (s *dirSnapshot) Light() bool { return s.copy.file == nil }

// Close is for [Snapshot].
func (s *dirSnapshot) Close() error { return s.copy.Close() }

// maxInMemory is how much of a copy is kept in memory.
const maxInMemory = 8 << 20

// content is the content of files, one after another: in memory, or in a file if
// it is long.
type content struct {
	size   int64
	light  int64 // of which so much is in memory
	memory []byte
	file   *os.File // nil: all is in memory
	named  bool     // the file has to be removed
}

// Write adds to it.
func (c *content) Write(p []byte) (int, error) {
	if c.file == nil && c.size+int64(len(p)) > c.light {
		if err := c.spill(); err != nil {
			return 0, err
		}
	}
	if c.file == nil {
		c.memory = append(c.memory, p...)
		c.size += int64(len(p))
		return len(p), nil
	}
	n, err := c.file.Write(p)
	c.size += int64(n)
	return n, err
}

// spill goes on in a file that only this process can read. Where a file can lose
// its name while it is open it does, so that none is ever left behind.
func (c *content) spill() error {
	f, err := os.CreateTemp("", "ferrule-memory-")
	if err != nil {
		return err
	}
	c.file, c.named = f, os.Remove(f.Name()) != nil
	_, err = f.Write(c.memory)
	c.memory = nil
	return err
}

// of is the content of one file.
func (c *content) of(e *entry) io.Reader {
	if c.file == nil {
		return bytes.NewReader(c.memory[e.at : e.at+e.size])
	}
	return io.NewSectionReader(c.file, e.at, e.size)
}

// Close removes it.
func (c *content) Close() error {
	c.memory = nil
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	if c.named {
		err = os.Remove(c.file.Name())
	}
	return err
}
