package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/mcptool"
)

func TestFailuresAreToldOnce(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"M1 once": nil, "M1 each try where it is asked for": {"--verbose"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "ferrule.yaml"), fmt.Sprintf(`
servers: {gone: {command: no-such-program-here}, test: %s}
`, testServer(t)))
			r := up(t, dir, nil, args...)
			r.out.find(t, `server gone: (waiting: .*no-such-program-here)`)
			r.out.find(t, `server test: (ready)`)
			if args != nil {
				r.errs.find(t, `(?s)(server is not there.*server is not there)`)
			}
			r.stop()
			<-r.over
			if n := strings.Count(r.out.String(), "server gone:"); n != 1 {
				t.Errorf("got it %d times, want it once: %s", n, r.out)
			}
			if tries := strings.Contains(r.errs.String(), "no-such-program-here"); tries != (args != nil) {
				t.Errorf("got %s, want tries: %t", r.errs, args != nil)
			}
		})
	}
	t.Run("M1 another reason is no other state", func(t *testing.T) {
		t.Parallel()
		a, b := mcptool.Status{State: "waiting", Why: "pid 1 died"}, mcptool.Status{State: "waiting", Why: "pid 2 died"}
		ready := mcptool.Status{State: "ready", Tools: 1}
		if standsAs(a) != standsAs(b) || standsAs(a) == standsAs(ready) || standsAs(mcptool.Status{State: "connecting"}) != "" {
			t.Errorf("got %q, %q, %q, want the first two alike", standsAs(a), standsAs(b), standsAs(ready))
		}
	})
}

func TestOpenTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		address          string
		encrypted        bool
		reach, inTheOpen bool
	}{
		{"127.0.0.1:1", false, false, false},
		{"[::1]:1", false, false, false},
		{"localhost:1", false, false, false},
		{":1", false, true, true},
		{"0.0.0.0:1", false, true, true},
		{"[::]:1", false, true, true},
		{"[::]:1", true, true, false},
		{"192.0.2.1:1", false, false, true},
		{"build.example:1", true, false, false},
	} {
		t.Run("M2 "+tt.address, func(t *testing.T) {
			t.Parallel()
			text := strings.Join(openTo(tt.address, tt.encrypted), "\n")
			if strings.Contains(text, "listen.hosts") != tt.reach || strings.Contains(text, "in the clear") != tt.inTheOpen {
				t.Errorf("got %q, want hosts: %t, in the clear: %t", text, tt.reach, tt.inTheOpen)
			}
		})
	}
}
