package ferrule

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// No test of this package leaves a goroutine behind. Some tests run this program
// again, as a hook.
func TestMain(m *testing.M) {
	if program := os.Getenv("FERRULE_TEST_PROGRAM"); program != "" {
		os.Exit(runTestProgram(program))
	}
	goleak.VerifyTestMain(m)
}
