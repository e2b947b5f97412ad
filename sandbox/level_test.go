package sandbox

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestAtLeast(t *testing.T) {
	t.Parallel()
	levels := []Level{"nonsense", InProcess, Process, Namespace, Container}
	for i, l := range levels {
		for k, least := range levels {
			if got, want := l.AtLeast(least), i >= k && k > 0; got != want {
				t.Errorf("%q.AtLeast(%q) = %v, want %v", l, least, got, want)
			}
		}
	}
}

func TestLimitsLowered(t *testing.T) {
	t.Parallel()
	all := Limits{Time: time.Second, Memory: -1, Output: 5}.orDefaults()
	if all.Time != time.Second || all.Memory != none || all.Output != 5 || all.Processes != 512 || all.Files != 4096 {
		t.Errorf("got %+v", all)
	}
	less := all.lowered(Limits{Time: time.Hour, Memory: 7, Output: -1, Processes: 3})
	if less.Time != time.Second || less.Memory != 7 || less.Output != 5 || less.Processes != 3 {
		t.Errorf("a command only lowers: got %+v", less)
	}
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	helper, dir := Helper{entered: true}, t.TempDir()
	for _, tt := range []struct {
		config Config
		want   string
	}{
		{Config{Workspace: []string{dir}}, "call sandbox.Enter first in main"},
		{Config{Helper: helper}, "got no folder"},
		{Config{Helper: helper, Workspace: []string{dir + "/nothing"}}, "nothing"},
		{Config{Helper: helper, Workspace: []string{dir}, Level: "some"}, `level: got "some"`},
		{Config{Helper: helper, Workspace: []string{dir}, Weaker: Container}, `weaker level: got "container"`},
		{Config{Helper: helper, Workspace: []string{dir}, Network: "lan"}, `network: got "lan"`},
		{Config{Helper: helper, Workspace: []string{dir}, Read: []string{"x"}}, `path: got "x"`},
		{Config{Helper: helper, Workspace: []string{dir}, Env: []string{"X"}}, `environment: got "X"`},
	} {
		if _, err := New(tt.config); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q in it", err, tt.want)
		}
	}
	if runtime.GOOS != "windows" {
		if _, err := New(Config{Helper: helper, Workspace: []string{"/"}}); err == nil || !strings.Contains(err.Error(), "everything") {
			t.Errorf("got %v", err)
		}
	}
}

func TestUnavailable(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	helper, dir := Helper{entered: true}, t.TempDir()
	t.Run("N2 a level that cannot be had is an error that says why", func(t *testing.T) {
		for _, tt := range []struct {
			level Level
			want  string
		}{{Namespace, "bwrap"}, {Container, "neither docker nor podman"}} {
			_, err := New(Config{Helper: helper, Workspace: []string{dir}, Level: tt.level})
			var missing *Unavailable
			if !errors.As(err, &missing) || missing.Level != tt.level || (runtime.GOOS == "linux" && !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want an Unavailable with %q", err, tt.want)
			}
		}
	})
	t.Run("N2 unless the operator wrote down that a weaker one will do", func(t *testing.T) {
		box, err := New(Config{Helper: helper, Workspace: []string{dir}, Level: Container, Weaker: InProcess})
		if err != nil {
			t.Fatal(err)
		}
		a := box.Applied()
		if a.Level != InProcess || a.Network != Open || !strings.Contains(strings.Join(a.Missing, "\n"), `level "container" was wanted`) || !strings.Contains(strings.Join(a.Missing, "\n"), "not isolated") {
			t.Errorf("got %+v", a)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
}
