package sandbox

import (
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

var entered Helper

// The test program is a keeper, or one of the programs that tests run in a
// sandbox, or runs the tests.
func TestMain(m *testing.M) {
	entered = Enter()
	if len(os.Args) > 2 && os.Args[1] == roleName {
		syscall.Exit(play(os.Args[2], os.Args[3:])) // not os.Exit, which the race detector delays by a second
	}
	goleak.VerifyTestMain(m)
}
