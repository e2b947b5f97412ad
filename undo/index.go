package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrule-dev/ferrule/internal/lock"
)

// line is one line of the index: the beginning of a change, or what is added to
// one that an earlier line began.
type line struct {
	Begin   *Entry   `json:"begin,omitempty"`
	ID      string   `json:"id,omitempty"`
	Folders []string `json:"folders,omitempty"`
	Outcome Outcome  `json:"outcome,omitempty"`
}

func (h *History) indexName() string { return filepath.Join(h.dir, "index.jsonl") }

// append writes a line and syncs it. The lock is held, perhaps together with
// others: one write at the end of a file is one piece. It begins with a line end,
// so that half a line, which a full disk leaves, spoils no other.
func (h *History) append(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	text = append(append([]byte{'\n'}, text...), '\n')
	_, err = os.Lstat(h.indexName())
	fresh := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(h.indexName(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil && fresh {
		err = syncDir(h.dir)
	}
	return err
}

// read is every entry, oldest first. The lock is held. A line that is none is
// passed over: it was cut off, and then nothing was changed.
func (h *History) read() ([]Entry, error) {
	text, err := os.ReadFile(h.indexName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	var list []Entry
	at := make(map[string]int)
	for t := range bytes.Lines(text) {
		var l line
		if len(t) < 2 || json.Unmarshal(t, &l) != nil {
			continue
		}
		if e := l.Begin; e != nil && e.ID != "" && !e.bad() {
			at[e.ID] = len(list)
			list = append(list, *e)
			continue
		}
		i, ok := at[l.ID]
		if !ok {
			continue
		}
		list[i].Folders = append(list[i].Folders, l.Folders...)
		if l.Outcome != "" {
			list[i].Outcome = l.Outcome
		}
		if j, ok := at[list[i].Of]; ok && l.Outcome == Done {
			list[j].UndoneBy = list[i].ID
			if k, ok := at[list[j].Of]; ok && list[k].UndoneBy == list[j].ID {
				list[k].UndoneBy = "" // it was brought back
			}
		}
	}
	return list, nil
}

// bad reports whether an entry is not one that this package writes.
func (e *Entry) bad() bool {
	return Change{Root: e.Root, Name: e.Name}.check() != nil || e.Was.There() && !isDigest(e.Was.Digest) || e.Left.There() && !isDigest(e.Left.Digest)
}

// List is every change that is kept, newest first.
func (h *History) List(ctx context.Context) ([]Entry, error) {
	unlock, err := h.lock(ctx, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	list, err := h.read()
	slices.Reverse(list)
	return list, err
}

// lock waits for the directory: shared by those who add to it, alone for those
// who take something away.
func (h *History) lock(ctx context.Context, shared bool) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(h.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	const pause = 2 * time.Millisecond
	for {
		ok, err := lock.File(f, shared)
		if ok {
			return func() { f.Close() }, nil
		}
		if err == nil {
			select {
			case <-ctx.Done():
				err = fmt.Errorf("waiting for another process: %w", context.Cause(ctx))
			case <-time.After(pause):
				continue
			}
		}
		f.Close()
		return nil, fmt.Errorf("undo: %w", err)
	}
}
