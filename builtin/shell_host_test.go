package builtin_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

// shellIsHost makes this program a host of its own, if its environment says so:
// one that starts something in the background, and then only waits.
func shellIsHost() bool {
	dir, line := os.Getenv("FERRULE_TEST_DIR"), os.Getenv("FERRULE_TEST_LINE")
	if dir == "" {
		return false
	}
	tools, err := builtin.Shell{Workspace: []string{dir}, Sandbox: sandbox.Config{Helper: shellHelper, State: dir + "/state"}}.Tools()
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err == nil {
		err = rt.Add(tools...)
	}
	if err != nil {
		fmt.Println(err)
		return true
	}
	s := rt.Session(tool.Caller{Session: "one"})
	fmt.Println(s.Call(context.Background(), "shell", line))
	select {} // until it is killed
}
