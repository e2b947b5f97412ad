package sandbox_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/sandbox"
)

// A level is had or refused, never silently replaced by a weaker one.
func ExampleNew() {
	// helper := sandbox.Enter(), first in main.
	_, err := sandbox.New(sandbox.Config{Workspace: []string{"/home/ada/project"}})
	fmt.Println(err)
	fmt.Println(sandbox.Namespace.AtLeast(sandbox.Process), sandbox.InProcess.AtLeast(sandbox.Process))
	// Output:
	// sandbox: no helper: call sandbox.Enter first in main and give what it returns
	// true false
}
