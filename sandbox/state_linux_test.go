package sandbox

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The state is written by commands and used by whatever starts them: a link that
// one puts in place of a folder would be followed for the next.
func TestStateIsNoWayOut(t *testing.T) {
	names := []string{"tmp", "home", "cache", "config", "data"}
	for _, way := range ways() {
		t.Run("N1 a folder of the state cannot be replaced, "+way.name, func(t *testing.T) {
			t.Parallel()
			state := filepath.Join(t.TempDir(), "state")
			w := newWorld(t, way.change, func(c *Config) { c.State = state })
			_, out := w.bash("cd " + state + " && for d in " + strings.Join(names, " ") + "; do rm -rf $d; mv $d old; ln -sT " + w.outside + " $d; done")
			for _, name := range names {
				if info, err := os.Lstat(filepath.Join(state, name)); err != nil || !info.IsDir() {
					t.Errorf("%s: got %v (%v), want the folder: %s", name, info, err, out)
				}
			}
			if o, out := w.do(Command{Args: []string{"bash", "-c", "echo x > $TMPDIR/x && cat $TMPDIR/x; cat " + w.outside + "/secret"}, ReadOnly: true}); !strings.HasPrefix(out, "x\n") || strings.Contains(out, "outside\n") {
				t.Errorf("got %+v and %q", o, out)
			}
			if o, out := w.bash(`for d in "$HOME" "$TMPDIR" "$XDG_CACHE_HOME" "$XDG_CONFIG_HOME" "$XDG_DATA_HOME"; do echo x > "$d/x" || exit 1; done`); o.Code != 0 {
				t.Errorf("got %+v and %q, want them writable", o, out)
			}
		})
		t.Run("N1 a link in the state is not followed, "+way.name, func(t *testing.T) {
			t.Parallel()
			state := filepath.Join(t.TempDir(), "state")
			w := newWorld(t, way.change, func(c *Config) { c.State = state })
			if err := os.Mkdir(state, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(w.outside, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if err := os.Symlink(w.outside, filepath.Join(state, name)); err != nil {
					t.Fatal(err)
				}
			}
			if o, out := w.bash(`cat "$TMPDIR/secret" ` + w.outside + "/secret; echo x > " + w.outside + "/new"); o.Code == 0 || strings.Contains(out, "outside\n") {
				t.Errorf("got %+v and %q, want a refusal", o, out)
			}
			if info, err := os.Stat(w.outside); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("the folder outside is %v (%v)", info.Mode(), err)
			}
		})
	}
}

// Applied may have to make the state in order to know: not when nobody removes it.
func TestAppliedAfterClose(t *testing.T) {
	for _, way := range ways() {
		t.Run("N2 a closed Box makes no folders, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			if err := w.box.Close(); err != nil {
				t.Fatal(err)
			}
			a := w.box.Applied()
			if state := w.box.config.State; state != "" {
				t.Errorf("got the state %q, want none", state)
				_ = os.RemoveAll(state)
			}
			if a.Network != Off || !strings.Contains(strings.Join(a.Missing, "\n"), "the box is closed") {
				t.Errorf("got %+v, want that it is closed", a)
			}
		})
		t.Run("N2 what was applied can be asked for after Close, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change)
			before := w.box.Applied()
			if err := w.box.Close(); err != nil {
				t.Fatal(err)
			}
			if after := w.box.Applied(); !reflect.DeepEqual(before, after) {
				t.Errorf("got %+v, want %+v", after, before)
			}
		})
	}
}

// A keeper that had namespaces and ended is followed by one that has them, or by
// none: a command must not get more by breaking what starts the next.
func TestNoFallBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, project)
	if _, out := w.bash("cat .ferrule/store"); strings.Contains(out, "private") {
		t.Fatalf("got %q, want it hidden", out)
	}
	t.Run("N2 the next keeper has namespaces too, or there is none", func(t *testing.T) {
		by, ok := w.box.by.(*keeping)
		if !ok {
			t.Fatalf("got %T", w.box.by)
		}
		by.link.end()
		w.box.config.Hidden = append(w.box.config.Hidden, filepath.Join(w.work, strings.Repeat("x", 300))) // no file can have this name
		o, err := w.box.Run(t.Context(), Command{Args: []string{"true"}})
		if err == nil {
			t.Errorf("got %+v, want an error", o)
		}
	})
}
