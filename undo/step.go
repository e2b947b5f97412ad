package undo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// Step is a change that was begun. Its End must be called.
type Step struct {
	h     *History
	entry Entry
}

// Begin keeps a copy of the file as it is and records that it is about to be
// changed. Both are on the disk when it returns without an error; where it
// returns one, the file must not be changed. Links, folders and what is no file
// are refused.
func (h *History) Begin(ctx context.Context, c Change) (*Step, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	if err := h.sweepIfGrown(ctx); err != nil {
		return nil, err
	}
	unlock, err := h.lock(ctx, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	p, err := openPlace(c.Root, c.Name)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	defer p.close()
	was, err := h.copyOf(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("undo: keeping a copy of %s: %w", c.Name, err)
	}
	e := Entry{
		Root: c.Root, Name: c.Name, Folders: c.Folders, Tool: c.Tool, Call: c.Call, Session: c.Session, Principal: c.Principal,
		Was: was, Left: State{Digest: inside.Digest(c.Left), Size: int64(len(c.Left))},
	}
	return h.begin(e)
}

// begin records an entry whose copies are kept. The lock is held.
func (h *History) begin(e Entry) (*Step, error) {
	e.ID, e.At = strings.ToLower(rand.Text()[:10]), time.Now().UTC().Round(0)
	if err := h.append(line{Begin: &e}); err != nil {
		return nil, fmt.Errorf("undo: recording the change of %s: %w", e.Name, err)
	}
	return &Step{h, e}, nil
}

// ID is what the change is restored by.
func (s *Step) ID() string { return s.entry.ID }

// Was is the file as it was when the copy was made. Who made the new content from
// the old one compares the digest: another may have changed the file in between.
func (s *Step) Was() State { return s.entry.Was }

// End records whether the change came to pass; err is why it did not. It gives
// err back: what it cannot record itself is no failure of the change, as the file
// says what became of it.
func (s *Step) End(ctx context.Context, err error) error {
	outcome := Done
	if err != nil {
		outcome = Failed
	}
	// What was begun is ended, whoever has stopped waiting for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if unlock, err := s.h.lock(ctx, true); err == nil {
		_ = s.h.append(line{ID: s.entry.ID, Outcome: outcome})
		unlock()
	}
	return err
}

// copyOf keeps a copy of the file and says what it is.
func (h *History) copyOf(ctx context.Context, p place) (State, error) {
	return p.state(func(f io.Reader, size int64) (string, int64, error) {
		if size > h.keep.File {
			return "", 0, fmt.Errorf("got a file of %d bytes, want at most %d", size, h.keep.File)
		}
		return h.put(ctx, f)
	})
}

// now is what the file is, without a copy.
func now(ctx context.Context, p place) (State, error) {
	return p.state(func(f io.Reader, _ int64) (string, int64, error) { return inside.DigestOf(ctx, f) })
}

// state is what the file is; read goes through what it holds. No file is none.
func (p place) state(read func(f io.Reader, size int64) (sum string, n int64, err error)) (State, error) {
	if p.at == nil {
		return State{}, nil
	}
	f, info, err := inside.File(p.at, p.base)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	sum, n, err := read(f, info.Size())
	if err != nil {
		return State{}, err
	}
	return stateOf(info, sum, n), nil
}

func stateOf(info fs.FileInfo, sum string, size int64) State {
	s := State{Digest: sum, Size: size, Mode: info.Mode().Perm()}
	if o, ok := inside.OwnerOf(info); ok {
		s.UID, s.GID = o.UID, o.GID
	}
	return s
}
