//go:build unix

package secret_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
			if alive := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(alive, syscall.ESRCH) {
				t.Errorf("its child %d is still there", pid)
			}
			if strings.Contains(tt.script, "horse") && err != nil {
				t.Errorf("got %v, want its value", err)
			}
		})
	}
}
