package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func openBlobs(t *testing.T, dir string) (*store.Store, *store.Blobs) {
	t.Helper()
	lay(t, filepath.Join(dir, "f.db"))
	s, err := store.Open(t.Context(), filepath.Join(dir, "f.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b, err := s.Blobs(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return s, b
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	tooltest.Blobs(t, func(t *testing.T) durable.Blobs {
		_, b := openBlobs(t, t.TempDir())
		return b
	})
}

func TestBlobsAreAsListed(t *testing.T) {
	t.Parallel()
	note := durable.Note{Tool: "search", Trust: tool.Own}
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, dir string, s *store.Store)
		want func(error) bool
	}{
		{"O5 a file that another store has put there is not found", func(t *testing.T, _ string, s *store.Store) {
			if err := s.Raw(t.Context(), `DELETE FROM blobs`); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return errors.Is(err, durable.ErrNotFound) }},
		{"O5 a file that is gone is not found", func(t *testing.T, dir string, _ *store.Store) {
			files, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "r_*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("got %v, %v", files, err)
			}
			if err := os.Remove(files[0]); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return errors.Is(err, durable.ErrNotFound) }},
		{"O5 a list that was changed is damage", func(t *testing.T, _ string, s *store.Store) {
			if err := s.Raw(t.Context(), `UPDATE blobs SET body = replace(body, 'search', 'forged')`); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return err != nil && !errors.Is(err, durable.ErrNotFound) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, b := openBlobs(t, dir)
			handle, err := b.Put(t.Context(), "one", note, "text")
			if err != nil {
				t.Fatal(err)
			}
			tt.do(t, dir, s)
			_, err = b.Open(t.Context(), "one", handle)
			if !tt.want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("O5 what could not be listed is not kept", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s, b := openBlobs(t, dir)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(context.WithoutCancel(t.Context()), "one", note, "text"); err == nil {
			t.Fatal("got no error of a store that is closed")
		}
		_, b = openBlobs(t, dir)
		if holds, err := b.Holds(t.Context(), "one"); holds || err != nil {
			t.Errorf("got %v, %v", holds, err)
		}
	})
}
