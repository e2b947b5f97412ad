package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// Sweep forgets what is too old or too much, oldest first, and the copies that
// nothing needs any more. Open does it; who keeps a history open for long does it
// now and then.
func (h *History) Sweep(ctx context.Context, at time.Time) error {
	unlock, err := h.lock(ctx, false)
	if err != nil {
		return err
	}
	defer unlock()
	list, err := h.read()
	if err != nil {
		return err
	}
	keep := h.youngest(list, at)
	if len(keep) < len(list) {
		if err := h.rewrite(keep); err != nil {
			return fmt.Errorf("undo: sweeping: %w", err)
		}
	}
	if err := h.removeCopies(keep); err != nil {
		return fmt.Errorf("undo: sweeping: %w", err)
	}
	h.mu.Lock()
	h.grown = 0
	h.mu.Unlock()
	return nil
}

// youngest are the entries that are within the bounds. What is too old is judged
// entry by entry: one that was recorded while the clock was wrong takes no other
// with it.
func (h *History) youngest(list []Entry, at time.Time) []Entry {
	held := make(map[string]bool)
	var bytes int64
	var keep []Entry
	for _, e := range slices.Backward(list) {
		if at.Sub(e.At) > h.keep.Age {
			continue
		}
		if e.Was.There() && !held[e.Was.Digest] {
			held[e.Was.Digest] = true
			bytes += e.Was.Size
		}
		if bytes > h.keep.Bytes {
			break
		}
		keep = append(keep, e)
	}
	slices.Reverse(keep)
	return keep
}

// rewrite exchanges the index whole. The lock is held alone.
func (h *History) rewrite(list []Entry) error {
	var text bytes.Buffer
	for _, e := range list {
		outcome, folders := e.Outcome, e.Folders
		e.Outcome, e.UndoneBy, e.Folders = "", "", nil
		for _, l := range []line{{Begin: &e}, {ID: e.ID, Outcome: outcome, Folders: folders}} {
			t, err := json.Marshal(l)
			if err != nil {
				return err
			}
			text.Write(append(t, '\n'))
		}
	}
	top, err := inside.Open(h.dir)
	if err != nil {
		return err
	}
	defer top.Close()
	return inside.Replace(top, filepath.Base(h.indexName()), &text, inside.Keep{Like: true, Mode: 0o600})
}

// removeCopies takes away what no entry names, and what was left half written.
func (h *History) removeCopies(list []Entry) error {
	held := make(map[string]bool)
	for _, e := range list {
		held[e.Was.Digest] = true
	}
	dir := filepath.Join(h.dir, "copies")
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if isDigest(n.Name()) && !held[n.Name()] || strings.HasPrefix(n.Name(), "tmp-") {
			if err := os.Remove(filepath.Join(dir, n.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepIfGrown keeps a history within its bounds that is open for long.
func (h *History) sweepIfGrown(ctx context.Context) error {
	h.mu.Lock()
	much := h.grown > h.keep.Bytes/8
	h.mu.Unlock()
	if !much {
		return nil
	}
	return h.Sweep(ctx, time.Now())
}
