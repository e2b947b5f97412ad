package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// wall measures what calls that wait cost in time that passes, not in CPU time:
// the least of some tries, which take turns.
func wall(ctx context.Context) ([]row, error) {
	pooled, err := workerPool(ctx)
	if err != nil {
		return nil, err
	}
	chained, err := readsAndWrites(ctx)
	if err != nil {
		return nil, err
	}
	return append(pooled, chained...), nil
}

// least runs each function some times, in turns, and gives the least time of
// each.
func least(tries int, all ...func() error) ([]time.Duration, error) {
	best := make([]time.Duration, len(all))
	for try := range tries {
		for i, f := range all {
			start := time.Now()
			if err := f(); err != nil {
				return nil, err
			}
			if took := time.Since(start); try == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best, nil
}

// workerPool compares 100 calls of 1 ms, ten at once, with ten goroutines that
// do the same.
func workerPool(ctx context.Context) ([]row, error) {
	const n, at = 100, 10
	s, err := own(sleeper(time.Millisecond, tool.Info{Name: "search", Claims: tool.Claims{Parallel: true}}, nil))
	if err != nil {
		return nil, err
	}
	calls := similarCalls(0, n)
	view := s.View(ctx)
	best, err := least(60, func() error {
		todo := make(chan int)
		var pool sync.WaitGroup
		for range at {
			pool.Go(func() {
				for range todo {
					time.Sleep(time.Millisecond)
				}
			})
		}
		for i := range n {
			todo <- i
		}
		close(todo)
		pool.Wait()
		return nil
	}, do(ctx, view, calls))
	if err != nil {
		return nil, err
	}
	return []row{{
		Name: "100 calls of 1 ms, 10 at once, to a bare pool of 10 goroutines (wall)",
		NS:   float64(best[1]), Ratio: float64(best[1]) / float64(best[0]), most: 1.05, mostAllocs: -1,
	}}, nil
}

// readsAndWrites compares 60 reads and 40 writes over 10 files, 10 ms each, with
// the longest chain of calls that must wait for each other, and with what
// partitioning into reads and writes would need.
func readsAndWrites(ctx context.Context) ([]row, error) {
	const n, files, d = 100, 10, 10 * time.Millisecond
	claims := func(a tool.Args) (tool.Claims, error) {
		var in struct {
			F int
			W bool
		}
		err := json.Unmarshal([]byte(a.Text()), &in)
		return tool.Claims{Parallel: true, Touches: []tool.Access{{Resource: fmt.Sprintf("file:/%d", in.F), Write: in.W}}}, err
	}
	partition := func(a tool.Args) (tool.Claims, error) {
		return tool.Claims{Parallel: strings.Contains(a.Text(), "false")}, nil
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Limit: n}
	if err := rt.Add(sleeper(d, tool.Info{Name: "touches"}, claims), sleeper(d, tool.Info{Name: "partition"}, partition)); err != nil {
		return nil, err
	}
	kinds := make([]bool, n)
	for i := range 40 {
		kinds[i] = true
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same calls in every run
	random.Shuffle(n, func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	exact, plain := make([]tool.Call, n), make([]tool.Call, n)
	var ends [files]struct{ write, reads int } // when the last write and the reads since end, in calls
	chain := 0
	for i, write := range kinds {
		f := random.IntN(files)
		input := fmt.Appendf(nil, `{"F":%d,"W":%v}`, f, write)
		exact[i], plain[i] = tool.Call{Name: "touches", Input: input}, tool.Call{Name: "partition", Input: input}
		e := &ends[f]
		if write {
			e.write = max(e.write, e.reads) + 1
			chain = max(chain, e.write)
		} else {
			e.reads = max(e.reads, e.write+1)
			chain = max(chain, e.reads)
		}
	}
	view := rt.Session(tool.Caller{}).View(ctx)
	best, err := least(5, do(ctx, view, exact), do(ctx, view, plain))
	if err != nil {
		return nil, err
	}
	longest := float64(time.Duration(chain) * d)
	return []row{
		{Name: fmt.Sprintf("60 reads and 40 writes of 10 ms over 10 files, to the longest chain of %d (wall)", chain), NS: float64(best[0]), Ratio: float64(best[0]) / longest, most: 1.15, mostAllocs: -1},
		{Name: "the same where tools claim only Parallel: partition, then gather (wall)", NS: float64(best[1]), Ratio: float64(best[1]) / longest, mostAllocs: -1},
	}, nil
}
