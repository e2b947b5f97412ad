//go:build unix

package store_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrule-dev/ferrule/durable"
)

func TestJournalKilled(t *testing.T) {
	t.Parallel()
	t.Run("J2 a process that is stopped is there, one that is killed is gone at once", func(t *testing.T) {
		t.Parallel()
		path := newPath(t)
		s := open(t, path)
		p := start(t, "journal", path, "victim")
		p.say(t, "begin a 0")
		if got := p.line(); got != "begun <nil>" {
			t.Fatalf("got %q", got)
		}
		if !live(t, s, "a") {
			t.Error("it is gone, though it runs")
		}
		if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if !live(t, s, "a") {
			t.Error("it is gone, though it was only stopped")
		}
		if _, err := s.Begin(t.Context(), call("b", 0)); !errors.Is(err, durable.ErrBegun) {
			t.Errorf("got %v, want %v", err, durable.ErrBegun)
		}
		if err := s.Resolve(t.Context(), "a", true, "ada", ""); err == nil || !strings.Contains(err.Error(), "its process is there") {
			t.Errorf("resolve: got %v, want it to be refused", err)
		}
		waited := make(chan error)
		go func() {
			r, err := s.Wait(t.Context(), "a")
			if err == nil && (r.State != durable.Running || r.Live) {
				err = errors.New("got it as " + string(r.State))
			}
			waited <- err
		}()
		p.kill(t)
		if live(t, s, "a") {
			t.Error("it is there, though it was killed")
		}
		if err := <-waited; err != nil {
			t.Errorf("wait: %v", err)
		}
		if err := s.Resolve(t.Context(), "a", true, "ada", "I saw the mail."); err != nil {
			t.Fatal(err)
		}
		got, err := s.Call(t.Context(), "a")
		if err != nil || got.State != durable.Done || got.Resolved != "ada" || got.Note != "I saw the mail." || got.Failed ||
			got.Result.String() != "A person says that this call was done.\nI saw the mail." {
			t.Errorf("got %+v, %v, want what the person said", got, err)
		}
	})
}
