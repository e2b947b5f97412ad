//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestScanPipe(t *testing.T) {
	t.Parallel()
	t.Run("Y1 who waits for a pipe that nobody writes to can be interrupted", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(dir, "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stdout, stderr bytes.Buffer
		p := &program{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, dir: dir, now: time.Now, helper: helper}
		ended := make(chan int)
		go func() { ended <- p.run(ctx, []string{"scan", "pipe"}) }()
		silent, err := os.OpenFile(path, os.O_WRONLY, 0) // waits until it is opened for reading
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if code := <-ended; code != 130 || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("got %d, %s%s, want 130, interrupted", code, &stdout, &stderr)
		}
		if err := silent.Close(); err != nil {
			t.Error(err)
		}
	})
}
