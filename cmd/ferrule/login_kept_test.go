package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// mapRing is a keyring in memory.
type mapRing struct {
	mu      sync.Mutex
	entries map[string]string
	refuses error
}

func (r *mapRing) value(_ context.Context, account string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuses != nil || r.entries[account] == "" {
		return "", errors.Join(r.refuses, errors.New("there is no such entry"))
	}
	return r.entries[account], nil
}

func (r *mapRing) put(_ context.Context, account, value string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuses != nil {
		return r.refuses
	}
	r.entries[account] = value
	return nil
}

const somewhere = "https://a.example/mcp?q=1"

func TestLogins(t *testing.T) {
	t.Parallel()
	granted := []byte(`{"token": "a-token-that-nobody-sees"}`)
	at := func(dir string, r ring) *logins {
		return &logins{dir: dir, key: &sealingKey{file: filepath.Join(dir, "key"), ring: r}}
	}
	keyText := func(t *testing.T, dir string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, "key"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Run("K4 the key is in the keyring where one takes it", func(t *testing.T) {
		t.Parallel()
		dir, r := filepath.Join(t.TempDir(), "logins"), &mapRing{entries: make(map[string]string)}
		if err := at(dir, r).keep(t.Context(), "s", somewhere, granted); err != nil {
			t.Fatal(err)
		}
		if text := keyText(t, dir); !strings.HasPrefix(text, "keyring logins-") || len(r.entries) != 1 {
			t.Errorf("got %s and %d entries, want the name of one", text, len(r.entries))
		}
		if got, err := at(dir, r).load(t.Context(), "s", somewhere); err != nil || !bytes.Equal(got, granted) {
			t.Errorf("got %s, %v, want what was kept", got, err)
		}
		if got := at(dir, r).key.place(); !strings.Contains(got, "keyring") {
			t.Errorf("got %s, want where it is", got)
		}
		for _, gone := range []ring{nil, &mapRing{}, &mapRing{refuses: errors.New("it is locked")}} {
			if got, err := at(dir, gone).load(t.Context(), "s", somewhere); err == nil || !strings.Contains(err.Error(), "the key of the logins") || got != nil {
				t.Errorf("got %s, %v, want that the key cannot be had", got, err)
			}
		}
	})
	t.Run("K4 else it is in a file", func(t *testing.T) {
		t.Parallel()
		for _, r := range []ring{nil, &mapRing{refuses: errors.New("there is no bus")}} {
			dir := filepath.Join(t.TempDir(), "logins")
			l := at(dir, r)
			if err := l.keep(t.Context(), "s", somewhere, granted); err != nil {
				t.Fatal(err)
			}
			if text := keyText(t, dir); !strings.HasPrefix(text, "file ") || l.key.place() != filepath.Join(dir, "key") {
				t.Errorf("got %.8s…, %s, want the key", text, l.key.place())
			}
			if got, err := at(dir, nil).load(t.Context(), "s", somewhere); err != nil || !bytes.Equal(got, granted) {
				t.Errorf("got %s, %v, want what was kept", got, err)
			}
			for text, want := range map[string]string{"": "damaged", "file AAAA": "damaged", "paper x": "damaged"} {
				write(t, filepath.Join(dir, "key"), text)
				if _, err := at(dir, nil).load(t.Context(), "s", somewhere); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "log in anew") {
					t.Errorf("%q: got %v, want %s, and what to do", text, err, want)
				}
			}
		}
	})
	t.Run("K4 a file system without links has a key, too, and the first one counts", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "logins")
		linkless := func() *logins {
			l := at(dir, nil)
			l.key.link = func(from, to string) error {
				return &os.LinkError{Op: "link", Old: from, New: to, Err: errors.ErrUnsupported}
			}
			return l
		}
		if err := linkless().keep(t.Context(), "s", somewhere, granted); err != nil {
			t.Fatal(err)
		}
		text := keyText(t, dir)
		if err := linkless().key.create(t.Context()); err != nil || keyText(t, dir) != text {
			t.Errorf("got %v, want the key that was there", err)
		}
		if got, err := at(dir, nil).load(t.Context(), "s", somewhere); err != nil || !bytes.Equal(got, granted) {
			t.Errorf("got %s, %v, want what was kept", got, err)
		}
		info, err := os.Stat(filepath.Join(dir, "key"))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("got %v, %v, want it for its user only", info.Mode(), err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".key-*")); len(left) > 0 {
			t.Errorf("got %v left behind", left)
		}
	})
	t.Run("K4 two who make a key at once have the same", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		var all sync.WaitGroup
		keys := make([][]byte, 8)
		for i := range keys {
			all.Go(func() {
				var err error
				if keys[i], err = at(dir, nil).key.value(t.Context(), true); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, key := range keys {
			if len(key) != keySize || !bytes.Equal(key, keys[0]) {
				t.Error("got different keys, want one")
			}
		}
	})
	for name, r := range map[string]ring{"in a file": nil, "in a keyring": &mapRing{entries: make(map[string]string)}} {
		t.Run("K4 a key that was replaced counts at once, "+name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "logins")
			up, cli := at(dir, r), at(dir, r) // two processes
			keep := func(l *logins, server, text string) {
				t.Helper()
				if err := l.keep(t.Context(), server, somewhere, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			keep(up, "a", "A1")
			keep(up, "b", "B1")
			if err := os.Remove(filepath.Join(dir, "key")); err != nil { // as docs/mcp.md says
				t.Fatal(err)
			}
			keep(cli, "a", "A2")
			if got, err := up.load(t.Context(), "a", somewhere); err != nil || string(got) != "A2" {
				t.Errorf("got %s, %v, want what another process has kept", got, err)
			}
			if got, err := up.load(t.Context(), "b", somewhere); err == nil || !strings.Contains(err.Error(), "sealed with another key than there is now") {
				t.Errorf("got %s, %v, want which of the two is wrong", got, err)
			}
			keep(up, "b", "B2") // a token that it has renewed
			if got, err := at(dir, r).load(t.Context(), "b", somewhere); err != nil || string(got) != "B2" {
				t.Errorf("got %s, %v, want what was kept last", got, err)
			}
			if err := os.Remove(filepath.Join(dir, "key")); err != nil {
				t.Fatal(err)
			}
			keep(up, "b", "B3") // which makes another key: the one in memory nobody else has
			if got, err := cli.load(t.Context(), "b", somewhere); err != nil || string(got) != "B3" {
				t.Errorf("got %s, %v, want what was kept last", got, err)
			}
		})
	}
	t.Run("K4 a key that was replaced in the keyring is read anew once it does not open a login", func(t *testing.T) {
		t.Parallel()
		dir, r := filepath.Join(t.TempDir(), "logins"), &mapRing{entries: make(map[string]string)}
		up := at(dir, r)
		if err := up.keep(t.Context(), "a", somewhere, []byte("A1")); err != nil {
			t.Fatal(err)
		}
		for account := range r.entries { // by hand, or from a backup
			r.entries[account] = strings.Repeat("A", 43)
		}
		if err := at(dir, r).keep(t.Context(), "a", somewhere, []byte("A2")); err != nil {
			t.Fatal(err)
		}
		if got, err := up.load(t.Context(), "a", somewhere); err == nil {
			t.Errorf("got %s, want that the keyring is not asked each time", got)
		}
		up.key.since = time.Now().Add(-2 * keyPause)
		if got, err := up.load(t.Context(), "a", somewhere); err != nil || string(got) != "A2" {
			t.Errorf("got %s, %v, want what another process has kept", got, err)
		}
	})
	t.Run("M6 a login is that of one server at one address", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		l := at(dir, nil)
		if err := l.keep(t.Context(), "s", somewhere, granted); err != nil {
			t.Fatal(err)
		}
		if _, err := l.load(t.Context(), "s", somewhere+"2"); !errors.Is(err, errOtherURL) {
			t.Errorf("got %v, want another url", err)
		}
		text, err := os.ReadFile(l.file("s"))
		if err != nil || bytes.Contains(text, []byte("nobody-sees")) || bytes.Contains(text, []byte("a.example")) {
			t.Errorf("got %s, %v, want nothing to read", text, err)
		}
		// What is written in the clear is not what it is bound to.
		lie := bytes.ReplaceAll(text, []byte(urlSum(somewhere)), []byte(urlSum("https://b.example")))
		write(t, l.file("s"), string(lie))
		if got, err := l.load(t.Context(), "s", "https://b.example"); err == nil || got != nil {
			t.Errorf("got %s, %v, want it refused", got, err)
		}
		write(t, l.file("t"), strings.Replace(string(text), `"server":"s"`, `"server":"t"`, 1))
		if got, err := l.load(t.Context(), "t", somewhere); err == nil || got != nil {
			t.Errorf("got %s, %v, want it refused for another server", got, err)
		}
		if strings.EqualFold(l.file("a"), l.file("A")) {
			t.Error("got one file for two servers where case does not count")
		}
	})
	t.Run("M6 one process is at it at a time", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		l := at(dir, nil)
		inside := make(chan struct{})
		leave := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- l.alone(t.Context(), "s", func(context.Context) error { close(inside); <-leave; return nil })
		}()
		<-inside
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := at(dir, nil).alone(ctx, "s", func(context.Context) error { t.Error("two at once"); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it is waited for", err)
		}
		close(leave)
		if err := errors.Join(<-done, at(dir, nil).alone(t.Context(), "s", func(context.Context) error { return nil })); err != nil {
			t.Error(err)
		}
	})
}

// FuzzSealed has the file of a login be anything: it is opened, or an error.
func FuzzSealed(f *testing.F) {
	f.Add([]byte(`{"version":1,"server":"s","url_sha256":"x","seal":"AAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseSealed(text)
		if err != nil {
			return
		}
		if got, err := s.open(make([]byte, keySize), "s", somewhere); err == nil {
			t.Errorf("got %q opened, which nobody has sealed", got)
		}
	})
}
