package ferrule_test

import (
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/tool"
)

// unguarded lets content pass as it is, for tests that are about something else.
func unguarded() *guard.Guard {
	return &guard.Guard{
		Sanitize: guard.Pass, Flow: flow.Rules{Mode: flow.Off},
		Sinks: map[guard.Sink][]tool.Sensitivity{guard.Model: {tool.Public, tool.Internal, tool.Secret}},
	}
}
