package builtin_test

import (
	"os"
	"testing"

	"github.com/ferrule-dev/ferrule/sandbox"
)

// shellHelper is proof that this program began with Enter.
var shellHelper sandbox.Helper

func TestMain(m *testing.M) {
	shellHelper = sandbox.Enter()
	if shellIsHost() {
		return
	}
	os.Exit(m.Run())
}
