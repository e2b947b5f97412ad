package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
)

// beNested makes a sandbox where it stands and runs a command in it that leaves
// something behind.
func beNested(args []string) error {
	box, err := New(Config{Helper: entered, Workspace: []string{args[0]}})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	o, err := box.Run(context.Background(), Command{Args: []string{"bash", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo inner; cat " + args[1]}, Stdout: &out, Stderr: &out})
	if err != nil {
		return err
	}
	fmt.Printf("%d %s\n%q\n", o.Code, out.String(), o.Applied.Missing)
	return box.Close()
}

func TestNested(t *testing.T) {
	t.Parallel()
	t.Run("N1 a sandbox in a sandbox says what it cannot do", func(t *testing.T) {
		w := newWorld(t)
		write(t, w.work+"/inner/file", "inside\n")
		write(t, w.work+"/file", "outside\n")
		o, out := w.run(role("nested", w.work+"/inner", w.work+"/file")...)
		if o.Code != 0 || !strings.Contains(out, "inner\n") || !strings.Contains(out, "Permission denied") || !strings.Contains(out, "no user namespaces") || !strings.Contains(out, "ends with the Box") {
			t.Errorf("got %+v and %s", o, out)
		}
		if left := marked(w.mark); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
	})
}
