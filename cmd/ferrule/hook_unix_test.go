//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A file that never answers does not keep the hook from answering: its client would end
// it, and let the call through.
func TestHookStuck(t *testing.T) {
	t.Parallel()
	t.Run("D7 what does not heed its end blocks the call", func(t *testing.T) {
		t.Parallel()
		l := newHookLab(t, "")
		pipe := filepath.Join(l.dir, "ferrule.yaml")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { // who reads it goes on, and not far
			if f, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				_, _ = f.WriteString("no: [rules")
				_ = f.Close()
			}
		})
		p := &program{stdin: strings.NewReader(l.event(beforeUse, "TodoRead", `{}`, "default", "t")), environ: l.env, dir: l.dir, now: time.Now, helper: helper}
		p.out, p.errs = &shown{to: new(bytes.Buffer)}, &shown{to: new(bytes.Buffer)}
		var s *status
		if err := p.hook(t.Context(), hooking{within: 100 * time.Millisecond}, nil); !errors.As(err, &s) || s.code != statusUsage || !strings.Contains(err.Error(), "blocked") {
			t.Errorf("got %v, want the status that blocks", err)
		}
	})
}
