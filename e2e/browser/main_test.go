package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"no program": nil, "no axe": {"-ferrule", "main_test.go"}, "one that is not there": {"-ferrule", filepath.Join("no", "such")}} {
		t.Run("Y3 "+name, func(t *testing.T) {
			t.Parallel()
			if err := run(t.Context(), args, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "-") {
				t.Errorf("got %v, want the flag that is wrong", err)
			}
		})
	}
}

func TestEventually(t *testing.T) {
	t.Parallel()
	n := 0
	if err := eventually(t.Context(), time.Minute, func() error {
		if n++; n < 3 {
			return errors.New("not yet")
		}
		return nil
	}); err != nil || n != 3 {
		t.Errorf("got %v after %d tries", err, n)
	}
	gone, end := context.WithCancelCause(t.Context())
	end(errors.New("no more"))
	if err := eventually(gone, time.Minute, func() error { return errors.New("not yet") }); err == nil || err.Error() != "no more" {
		t.Errorf("got %v, want why it ended", err)
	}
}
