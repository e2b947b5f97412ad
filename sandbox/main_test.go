package sandbox

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

var entered Helper

// The test program is a keeper, or one of the programs that tests run in a
// sandbox, or runs the tests.
func TestMain(m *testing.M) {
	entered = Enter()
	if len(os.Args) > 1 && os.Args[0] == roleName {
		os.Exit(play(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}
