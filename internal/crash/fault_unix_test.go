//go:build unix

package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// childShut lets go of the rights of root, opens a store, and makes one call of
// each kind: in a directory that cannot be written any more, and then in one that
// can. It says what came of them.
func childShut(ctx context.Context, o orders) error {
	if os.Getuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			return err
		}
	}
	s, err := store.Open(ctx, o.file(filepath.Join("store", storeFile)))
	if err != nil {
		return err
	}
	if err := os.Chmod(o.file("store"), 0o500); err != nil {
		return err
	}
	w, err := furnish(ctx, s, o.effects())
	if err != nil {
		return err
	}
	l := &lab{world: w}
	for _, mode := range []os.FileMode{0o500, 0o700} {
		if err := os.Chmod(o.file("store"), mode); err != nil {
			return err
		}
		var calls []tool.Call
		steps := l.kinds()
		for _, s := range steps {
			calls = append(calls, s.call())
		}
		turn := w.runtime.Session(session()).View(ctx).Begin(ctx, ferrule.TurnOptions{})
		turn.Add(calls...)
		for i, out := range outcomes(turn.Wait()) {
			text, err := json.Marshal(told{o.Life, steps[i], out})
			if err != nil {
				return err
			}
			fmt.Println(string(text))
		}
	}
	return w.close(ctx)
}

// nobody is a user without rights.
const nobody = 65534

func TestDirectoryShut(t *testing.T) {
	t.Parallel()
	t.Run("J4 a directory that cannot be written: nothing runs; then it goes on", func(t *testing.T) {
		t.Parallel()
		dir, err := os.MkdirTemp("", "crash") // which everybody can enter
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		o := orders{Dir: dir, Life: 1}
		for _, name := range []string{dir, o.file("store")} {
			_ = os.Mkdir(name, 0o700)
			if os.Getuid() != 0 {
				continue
			}
			if err := os.Chown(name, nobody, -1); err != nil {
				t.Fatal(err)
			}
		}
		p := start(t, "shut", o)
		var all []told
		for line := p.line(); line != ""; line = p.line() {
			var x told
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		if err := p.Wait(); err != nil {
			t.Fatalf("%v: %s", err, p.stain.String())
		}
		if want := 2 * len(traits()); len(all) != want {
			t.Fatalf("got %d results, want %d", len(all), want)
		}
		l := &lab{did: o.effects()}
		for i, x := range all {
			n, shut := len(l.ran(t, x.Step)), i < len(all)/2
			switch {
			case x.Step.trait().reads:
			case shut && (x.Outcome.Kind == "" || n > 0):
				t.Errorf("%s: ran %d times and got %+v, want it refused", x.Step.Tool, n, x.Outcome)
			case shut && !strings.Contains(x.Outcome.Detail, "see whether this user may write to the directory"):
				t.Errorf("%s: got %+v, want it to say what to do", x.Step.Tool, x.Outcome)
			case !shut && (x.Outcome.Kind != "" || n != 1):
				t.Errorf("%s: ran %d times and got %+v, want it to go on", x.Step.Tool, n, x.Outcome)
			}
		}
	})
}
