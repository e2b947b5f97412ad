//go:build unix

package secret_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/secret"
)

// What a program of a secret has started ends with it.
func TestCommandLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, script string }{
		{"K4 a program that takes too long leaves none behind", `sleep 60 & echo $! >"$0"; wait`},
		{"K4 a program that has left one behind has said its value", `sleep 60 & echo $! >"$0"; echo correct horse`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := secret.Command("sh", "-c", tt.script, file).Value(ctx)
			text, readErr := os.ReadFile(file)
			pid, atoiErr := strconv.Atoi(strings.TrimSpace(string(text)))
			if readErr != nil || atoiErr != nil {
				t.Fatal(readErr, atoiErr)
			}
			for begin := time.Now(); running(pid); runtime.Gosched() {
				if time.Since(begin) > time.Second {
					t.Errorf("its child %d is still there", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
					break
				}
			}
			if strings.Contains(tt.script, "horse") && err != nil {
				t.Errorf("got %v, want its value", err)
			}
		})
	}
}

// running reports whether there is such a process that has not ended. One that
// nobody waits for stays as a name.
func running(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	after := bytes.LastIndexByte(stat, ')')
	return after >= 0 && !bytes.HasPrefix(stat[after:], []byte(") Z")) && !bytes.HasPrefix(stat[after:], []byte(") X"))
}
