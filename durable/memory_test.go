package durable_test

import (
	"errors"
	"io"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
)

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := &durable.Memory{Max: 10}
	put := func(text string) string {
		t.Helper()
		h, err := m.Put(t.Context(), "ada", durable.Note{}, text)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	has := func(handle string, want bool) {
		t.Helper()
		_, err := m.Open(t.Context(), "ada", handle)
		if got := err == nil; got != want || (err != nil && !errors.Is(err, durable.ErrNotFound)) {
			t.Errorf("is there: got %v (%v), want %v", got, err, want)
		}
	}
	one, two := put("1111"), put("2222")
	open, err := m.Open(t.Context(), "ada", two)
	if err != nil {
		t.Fatal(err)
	}
	put("1111") // now two is the oldest
	three := put("3333")
	has(one, true)
	has(two, false)
	has(three, true)
	if got, err := io.ReadAll(io.NewSectionReader(open, 0, open.Size)); err != nil || string(got) != "2222" {
		t.Errorf("open while it went: got %q, %v", got, err)
	}

	_, err = m.Put(t.Context(), "ada", durable.Note{}, "12345", "678901")
	if want := "blobs: put: got 11 bytes, want at most 10"; err == nil || err.Error() != want {
		t.Errorf("too long: got error %v, want %q", err, want)
	}
	has(one, true) // nothing went for what was refused
	has(three, true)

	full := put("0123456789")
	has(one, false)
	has(three, false)
	has(full, true)
	if n, err := m.Sweep(t.Context(), farFuture()); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v, want 1", n, err)
	}
	put("0123456789")
}
