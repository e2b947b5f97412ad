package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// mostGranted bounds what a question costs where a principal has many rules that
// last, to one where there are ten: somebody who trusts a server of thousands of
// tools must not pay for them in each call.
const mostGranted = 1.5

// grantTimes are what it costs that a rule which lasts answers a question, with more
// and more such rules of one server in a store, in time that passes.
func grantTimes(ctx context.Context) ([]row, error) {
	return measureGrants(ctx, 20, 5, 10, 1_000, 10_000)
}

// measureGrants compares questions among so many rules each with those among the
// first number of them.
func measureGrants(ctx context.Context, tries, calls int, counts ...int) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "ferrule-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	all := make([]func() error, len(counts))
	for i, n := range counts {
		s, err := store.Open(ctx, filepath.Join(dir, fmt.Sprint(n, ".db")))
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Close() }() // it is thrown away
		one, err := granted(ctx, s, n)
		if err != nil {
			return nil, err
		}
		all[i] = repeated(calls, one)
	}
	best, err := least(tries, all...)
	if err != nil {
		return nil, err
	}
	for i, n := range counts {
		r := row{Name: fmt.Sprintf("a call that one of %d rules of its server answers for (wall)", n), NS: float64(best[i]) / float64(calls), Ratio: float64(best[i]) / float64(best[0]), mostAllocs: -1}
		if i > 0 {
			r.Name = fmt.Sprintf("a call that one of %d rules of its server answers for, to one of %d (wall)", n, counts[0])
			r.most = mostGranted
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// granted makes one call each time, of a tool that is asked for, and for which the
// last of n rules in the store answers: those of a server of so many tools.
func granted(ctx context.Context, s *store.Store, n int) (func() error, error) {
	server := tool.Source{Name: "server", Trust: tool.MCP}
	pin := func(i int) string { return policy.Digest("pin", fmt.Sprint(i)) }
	rules := make([]policy.Grant, n)
	for i := range rules {
		rules[i] = policy.Grant{
			Rule: fmt.Sprintf("server__tool_%d", i), Caller: policy.Asker{Principal: "local"}, Source: server.Name, Pin: pin(i), Made: time.Unix(int64(i), 0),
		}
	}
	if err := s.Regrant(ctx, nil, rules, "bench", "to be measured"); err != nil {
		return nil, err
	}
	rt := &ferrule.Runtime{Inbox: s, Ledger: s}
	last := fmt.Sprintf("tool_%d", n-1)
	if err := rt.Set(server, &tool.Tool{
		Info: tool.Info{Name: last, Description: "Do nothing.", Input: json.RawMessage(`{"type":"object"}`), Repeatable: true, Pin: pin(n - 1)},
		Run: func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text("done")}}, nil
		},
	}); err != nil {
		return nil, err
	}
	view := rt.Session(tool.Caller{Session: "bench"}).View(ctx)
	return do(ctx, view, []tool.Call{{ID: "call_1", Name: "server__" + last, Input: json.RawMessage(`{}`)}}), nil
}
