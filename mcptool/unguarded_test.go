package mcptool

import (
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/flow"
)

// unguarded lets content pass as it is, for tests that are about something else.
func unguarded() *guard.Guard {
	return &guard.Guard{Sanitize: guard.Pass, Flow: flow.Rules{Mode: flow.Off}}
}
