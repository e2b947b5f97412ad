package mcptool

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// childRole is the variable that makes the test program one of the servers that
// tests start; see play.
const childRole = "FERRULE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		syscall.Exit(play(role)) // not os.Exit, which the race detector delays by a second
	}
	goleak.VerifyTestMain(m)
}
