package sandbox

import (
	"slices"
	"strings"
	"testing"
)

func TestNetwork(t *testing.T) {
	listeners := listen(t)
	for _, way := range ways() {
		t.Run("N1 an open network reaches the host, but for Unix sockets, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change, func(c *Config) { c.Network = Open })
			for try, want := range map[string]int{"tcp " + listeners.tcp: 0, "udp " + listeners.udp: 0, "unix " + listeners.path: 1, "unix " + listeners.abstract: 1} {
				network, address, _ := strings.Cut(try, " ")
				if o, out := w.run(role("dial", network, address)...); o.Code != want || o.Applied.Network != Open {
					t.Errorf("%s: got %+v and %q, want status %d", try, o, out, want)
				}
			}
			if o, out := w.run(role("netlink")...); o.Code != 1 {
				t.Errorf("got %+v and %q, want a refusal", o, out)
			}
		})
		t.Run("N1 with the network off no socket can be made, "+way.name, func(t *testing.T) {
			w := newWorld(t, way.change, func(c *Config) { c.Network = "" })
			for _, try := range [][]string{{"dial", "tcp", listeners.tcp}, {"dial", "udp", listeners.udp}, {"dial", "tcp", "127.0.0.1:1"}} {
				if o, out := w.run(role(try...)...); o.Code != 1 || !strings.Contains(out, "operation not permitted") || o.Applied.Network != Off {
					t.Errorf("%q: got %+v and %q, want that it is not permitted", try, o, out)
				}
			}
			if o, out := w.bash("echo x | cat"); o.Code != 0 {
				t.Errorf("got %+v and %q", o, out)
			}
		})
	}
	eventually(t, "the listeners heard what was sent", func() bool { return len(listeners.said) >= 6 })
	if got := listeners.heard(); strings.Contains(got, "unix") {
		t.Errorf("a Unix socket heard something: %s", got)
	}
}

func TestIdentity(t *testing.T) {
	needs(t, "git")
	home := t.TempDir()
	write(t, home+"/.gitconfig", "[user]\n\tname = Ada L\n\temail = ada@example.com\n\tsigningkey = KEY\n[credential]\n\thelper = store\n")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Run("N1 of git's configuration name and address are handed on, and nothing else", func(t *testing.T) {
		got := identity(t.Context())
		want := []string{"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Ada L", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=ada@example.com", "GIT_CONFIG_COUNT=2"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
