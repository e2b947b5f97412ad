// Command shell lets a model run commands: reads need no rule, a rule allows some
// commands and none that hides behind them, the kernel keeps what runs inside the
// workspace, and what goes on in the background ends with the session.
//
//	go run ./examples/shell
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

func main() {
	helper := sandbox.Enter() // first: this program is also what starts the commands
	if err := run(helper); err != nil {
		log.Fatal(err)
	}
}

func run(helper sandbox.Helper) error {
	made, err := os.MkdirTemp("", "ferrule-shell-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(made) }() // it is in the folder for such things
	dir, err := filepath.EvalSymlinks(made)
	if err != nil {
		return err
	}

	tools, err := builtin.Shell{Workspace: []string{dir}, Sandbox: sandbox.Config{Helper: helper}}.Tools()
	if missing := (*sandbox.Unavailable)(nil); errors.As(err, &missing) {
		fmt.Println("There is no shell on this machine:", missing.Why)
		return nil
	}
	rules, err2 := cedar.New(cedar.Rules{Allow: []string{"shell(sh build.sh*)"}, Workspace: dir})
	rt := &ferrule.Runtime{Policy: rules}
	if err := errors.Join(err, err2, rt.Add(tools...), os.WriteFile(filepath.Join(dir, "build.sh"), []byte(script), 0o600)); err != nil {
		return err
	}
	ctx := context.Background()
	session := rt.Session(tool.Caller{})

	call := func(name string, in map[string]any) (first, rest string) {
		text, _ := json.Marshal(in) // strings, numbers and booleans
		result := session.Call(ctx, name, string(text)).String()
		first, rest, _ = strings.Cut(strings.ReplaceAll(result, dir, "WORKSPACE"), "\n")
		return first, strings.TrimSpace(rest)
	}
	for _, line := range []string{
		"ls; wc -l < build.sh",             // only reads: it needs no rule
		"sh build.sh",                      // a rule covers it
		"sh build.sh; rm build.sh",         // and not this
		"sh build.sh /etc/ferrule-example", // this one the kernel refuses
	} {
		first, rest := call("shell", map[string]any{"command": line})
		fmt.Printf("$ %s\n%s\n", line, strings.TrimSpace(first+"\n"+rest))
	}

	first, _ := call("shell", map[string]any{"command": "sh build.sh watch", "background": true})
	fmt.Println(first)
	_, rest := call("process_read", map[string]any{"id": "p1", "from": 0, "wait": 10})
	fmt.Println(rest)
	return session.Close(ctx) // nothing is left running
}

// script builds into a file, or goes on for ever.
const script = `
if [ "$1" = watch ]; then
	echo watching
	while :; do sleep 1; done
fi
echo built > "${1:-out.txt}" && cat "${1:-out.txt}"
`
