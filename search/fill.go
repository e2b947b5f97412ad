package search

import (
	"context"
	"errors"
	"fmt"
)

// Embed gives vectors to the documents that have none yet. An error says that the
// embedder was given up, and leaves those that it did not come to without.
func (x *Index) Embed(ctx context.Context) error {
	x.start()
	if x.Embedder == nil {
		return nil
	}
	select {
	case x.filling <- struct{}{}:
		defer func() { <-x.filling }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	x.mu.RLock()
	var bare []*entry
	for _, e := range x.entries {
		if e != nil && !e.embedded {
			bare = append(bare, e)
		}
	}
	x.mu.RUnlock()
	size := x.Embedder.Batch
	if size <= 0 {
		size = 64
	}
	f := filler{x: x}
	defer f.settle()
	for len(bare) > 0 {
		batch := bare[:min(len(bare), size)]
		bare = bare[len(batch):]
		if err := f.fill(ctx, batch); err != nil {
			return fmt.Errorf("embed documents: %w", err)
		}
	}
	switch {
	case f.worked:
		f.done = append(f.done, f.refused...)
	case len(f.refused) > 0:
		return fmt.Errorf("embed documents: %w", f.err)
	}
	return nil
}

// maxFailed is how often in a row an embedder may fail before it is given up.
const maxFailed = 24

// filler gives vectors to documents.
type filler struct {
	x       *Index
	worked  bool
	failed  int      // in a row
	refused []*entry // each failed alone, after the last that was taken
	done    []*entry // before it: it is about them
	err     error    // the last
}

// fill gives vectors to the documents of one batch. One that the embedder does not
// take costs no other its vector: halves are tried, and what fails alone while others
// are taken has none. The error is why the embedder is given up.
func (f *filler) fill(ctx context.Context, batch []*entry) error {
	err := f.try(ctx, batch)
	half := len(batch) / 2
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, f.failed >= maxFailed, errors.Is(err, context.DeadlineExceeded):
		return err
	case half == 0:
		f.refused = append(f.refused, batch...)
		return nil
	case !f.worked && f.try(ctx, batch[:1]) != nil && f.try(ctx, batch[len(batch)-1:]) != nil:
		return err // it takes nothing, so it is not about the documents
	}
	if err := f.fill(ctx, batch[:half]); err != nil {
		return err
	}
	return f.fill(ctx, batch[half:])
}

func (f *filler) try(ctx context.Context, batch []*entry) error {
	err := f.x.embed(ctx, batch)
	if err != nil {
		f.failed, f.err = f.failed+1, err
		return err
	}
	f.worked, f.failed = true, 0
	f.done, f.refused = append(f.done, f.refused...), nil
	return nil
}

// settle has what was refused without a vector until it changes.
func (f *filler) settle() {
	f.x.mu.Lock()
	defer f.x.mu.Unlock()
	for _, e := range f.done {
		e.embedded = true
	}
}

func (x *Index) embed(ctx context.Context, batch []*entry) error {
	docs := make([]Document, len(batch))
	for i, e := range batch {
		docs[i] = e.Document
	}
	vectors, err := x.Embedder.Documents(ctx, docs)
	if err == nil && len(vectors) != len(docs) {
		err = fmt.Errorf("got %d vectors, want %d", len(vectors), len(docs))
	}
	if err != nil {
		return err
	}
	made := make([]*vector, len(vectors))
	for i, v := range vectors {
		made[i] = quantise(v)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, e := range batch {
		if x.entries[e.slot] == e { // it has not gone meanwhile
			x.vectors.put(e.slot, made[i])
			e.embedded = true
		}
	}
	return nil
}
