package crash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// Names of files in the directory of a script.
const (
	storeFile      = "ferrule.db"
	effectsFile    = "effects"
	transcriptFile = "transcript"
)

// longest is how long a tool of the script takes.
const longest = 3 * time.Millisecond

func (o orders) file(name string) string { return filepath.Join(o.Dir, name) }

func (o orders) effects() effects {
	return effects{path: o.file(effectsFile), life: o.Life, slow: longest, sync: o.Seed%2 == 1}
}

// world is a runtime with a store for all that it keeps.
type world struct {
	store   *store.Store
	runtime *ferrule.Runtime
}

// openWorld opens a store, and a runtime on it with the tools of the script.
func openWorld(ctx context.Context, path string, of effects) (*world, error) {
	s, err := store.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return furnish(ctx, s, of)
}

// furnish makes a runtime on a store.
func furnish(_ context.Context, s *store.Store, of effects) (*world, error) {
	w := &world{s, runtimeOn(s)}
	w.runtime.SyncEnds = of.sync
	tools, err := of.tools()
	if err == nil {
		err = w.runtime.Add(tools...)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return w, nil
}

// runtimeOn keeps all in a store, and lets tools run; a person who is asked says
// yes.
func runtimeOn(s *store.Store) *ferrule.Runtime {
	return &ferrule.Runtime{
		Policy: policy.AllowOwn{},
		Inbox:  s, Ledger: s, Journal: s, Log: s,
		Answer: func(context.Context, policy.Question) (policy.Answer, error) {
			return policy.Answer{Allow: true, By: "ada"}, nil
		},
	}
}

// verify reports what is wrong with the chain of the log, and what of it is not
// there any more that was there at a head.
func verify(ctx context.Context, s *store.Store, head *audit.Head) error {
	report, err := s.Verify(ctx, head)
	if err == nil && len(report.Faults) > 0 {
		err = report.Faults[0]
	}
	return err
}

// ended are the calls, by Ferrule's id, whose end is in the log.
func ended(ctx context.Context, s *store.Store) (map[string]bool, error) {
	all := make(map[string]bool)
	for one, err := range s.Entries(ctx, store.Filter{Kind: audit.Ended}) {
		if err != nil {
			return nil, err
		}
		all[one.Call] = true
	}
	return all, nil
}

// session is whose script it is.
func session() tool.Caller { return tool.Caller{Principal: "local", Session: "script"} }

func (w *world) close(ctx context.Context) error {
	return errors.Join(w.runtime.Close(ctx), w.store.Close())
}

// childScript runs a script from where an earlier process left it.
func childScript(ctx context.Context, o orders) error {
	w, err := openWorld(ctx, o.file(storeFile), o.effects())
	if err != nil {
		return err
	}
	fmt.Println("open")
	if err := host(ctx, w.runtime, o); err != nil {
		return err
	}
	if err := w.close(ctx); err != nil {
		return err
	}
	fmt.Println("done")
	return nil
}

// look opens a copy of a store, so that the store itself stays as the kill left
// it.
func look(t *testing.T, o orders, f func(*store.Store)) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{storeFile, storeFile + "-wal"} {
		text, err := os.ReadFile(o.file(name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), filepath.Join(dir, storeFile))
	if err != nil {
		t.Fatalf("a copy of the store after a kill: %v", err)
	}
	f(s)
	if err := errors.Join(s.Close(), os.RemoveAll(dir)); err != nil {
		t.Error(err)
	}
}

// records are those of a turn, by call; turn 0: those that have not ended.
func records(t *testing.T, s *store.Store, turn int) map[string]durable.Record {
	t.Helper()
	of := session()
	list, err := s.Open(t.Context(), durable.Place{Principal: of.Principal, Session: of.Session, Turn: turn})
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]durable.Record)
	for _, r := range list {
		if had, ok := all[r.CallID]; ok {
			t.Errorf("%s has two records: %+v and %+v", r.CallID, had, r)
		}
		all[r.CallID] = r
	}
	return all
}
