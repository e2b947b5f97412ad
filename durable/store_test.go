package durable_test

import (
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tooltest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	tooltest.Blobs(t, func(*testing.T) durable.Blobs { return new(durable.Memory) })
}

func TestDir(t *testing.T) {
	t.Parallel()
	tooltest.Blobs(t, func(t *testing.T) durable.Blobs { return openDir(t, t.TempDir()) })
}

func openDir(t *testing.T, path string) *durable.Dir {
	t.Helper()
	d, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestMemoryJournal(t *testing.T) {
	t.Parallel()
	tooltest.Journal(t, func(*testing.T) (durable.Journal, func() durable.Journal) {
		j := new(durable.MemoryJournal)
		return j, func() durable.Journal { j.Leave(); return j }
	})
}
