package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tokens"
	"github.com/ferrule-dev/ferrule/tool"
)

// results are what long results cost in memory, and how often tokens are counted.
func results(ctx context.Context) ([]row, error) {
	dir, err := os.MkdirTemp("", "ferrule-bench")
	if err != nil {
		return nil, err
	}
	store, err := durable.OpenDir(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	rows, err := resultRows(ctx, store)
	return rows, errors.Join(err, store.Close(), os.RemoveAll(dir))
}

func resultRows(ctx context.Context, store durable.Blobs) ([]row, error) {
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Blobs: store}
	big := strings.Repeat("0123456789abcde\n", 10<<20/16)
	for name, text := range map[string]string{"big": big, "fits": big[:60_000], "small": big[:10]} {
		times := 0
		t, err := tool.New(tool.Info{Name: name, Description: "Return a text.", Repeatable: true, Cooperative: true}, func(context.Context, struct{}) (string, error) {
			times++
			return text[times%5:], nil // another each time: it is not there already
		})
		if err == nil {
			err = rt.Add(t)
		}
		if err != nil {
			return nil, err
		}
	}
	s := rt.Session(tool.Caller{Session: "bench"})
	one := func(name, input string) func() error {
		return func() error {
			if r := s.Call(ctx, name, input); r.Err != nil {
				return r.Err
			}
			return nil
		}
	}
	handle, err := gigabyte(ctx, s, store)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, w := range []struct {
		name string
		unit float64 // bytes
		most float64
		work func() error
	}{
		{"10 MB of text offloaded to a directory: allocated beyond the text, in units of 64 KiB", 64 << 10, 1, one("big", "")},
		{"a result of 60,000 characters, within the limits: allocated, in units of its size", 60_000, 0.1, one("fits", "")},
		{"a result of 10 characters: allocated, in the same units", 60_000, 0, one("small", "")},
		{"read_result, one page of a result of 1 GB: allocated, in pages of 64,000 bytes", 64_000, 2, one("read_result", handle)},
	} {
		bytes, err := allocated(w.work)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		rows = append(rows, row{Name: w.name, Ratio: bytes / w.unit, most: w.most, mostAllocs: -1})
	}
	counted, err := countings(ctx)
	return append(rows, counted...), err
}

// gigabyte keeps a text of 1 GB and gives the input that reads a page from its
// middle.
func gigabyte(ctx context.Context, s *ferrule.Session, store durable.Blobs) (string, error) {
	// The store is told who owns it as the runtime does: by what the session's own
	// result was kept with.
	owner := new(ownerOf)
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Blobs: owner}
	t, err := tool.New(tool.Info{Name: "long", Description: "Return a text.", Limit: tool.Limit{Chars: 1}},
		func(context.Context, struct{}) (string, error) { return "long", nil })
	if err == nil {
		err = rt.Add(t)
	}
	if err != nil {
		return "", err
	}
	rt.Session(tool.Caller{Session: "bench"}).Call(ctx, "long", "")
	parts := make([]string, 1024)
	for i, part := 0, strings.Repeat("0123456789abcde\n", 1<<20/16); i < len(parts); i++ {
		parts[i] = part
	}
	handle, err := store.Put(ctx, owner.name, durable.Note{Tool: "long", Trust: tool.Own}, parts...)
	if err != nil {
		return "", err
	}
	s.Call(ctx, "big", "") // from here on it is offered what reads results
	return fmt.Sprintf(`{"handle":%q,"offset":%d}`, handle, 1<<29), nil
}

// ownerOf is a store that only remembers for whom it shall keep something.
type ownerOf struct {
	durable.Memory
	name string
}

func (o *ownerOf) Put(ctx context.Context, owner string, n durable.Note, parts ...string) (string, error) {
	o.name = owner
	return o.Memory.Put(ctx, owner, n, parts...)
}

// allocated is how many bytes a work allocates: the least of some tries.
func allocated(work func() error) (float64, error) {
	least := math.MaxFloat64
	for range 5 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := work(); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
	}
	return least, nil
}

// countings is how often tokens are counted exactly, of 1,000 results between 10
// bytes and 1 MB (as many between 10 and 100 as between 100 KB and 1 MB): with a
// store, and without one, where what is left of a long result is near the limit.
func countings(ctx context.Context) ([]row, error) {
	exact, err := tokens.New("")
	if err != nil {
		return nil, err
	}
	var rows []row
	for name, blobs := range map[string]durable.Blobs{"with a store": new(durable.Memory), "without a store": nil} {
		r, err := counting(ctx, name, blobs, exact)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.Name, b.Name) })
	return rows, nil
}

func counting(ctx context.Context, name string, blobs durable.Blobs, exact *tokens.Counter) (row, error) {
	const n = 1000
	counted := false
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Blobs: blobs, CountTokens: func(s string) int {
		counted = true
		return exact.Count(s)
	}}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same sizes in every run
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and the log goes on.\n", 1<<20/64)
	size := 0
	t, err := tool.New(tool.Info{Name: "any", Description: "Return a text.", Repeatable: true}, func(context.Context, struct{}) (string, error) { return text[:size], nil })
	if err == nil {
		err = rt.Add(t)
	}
	if err != nil {
		return row{}, err
	}
	s := rt.Session(tool.Caller{})
	cut, times := 0, 0
	for range n {
		counted, size = false, int(math.Pow(10, 1+5*random.Float64()))
		if strings.Contains(s.Call(ctx, "any", "").String(), "[Truncated: ") {
			cut++
		}
		if counted {
			times++
		}
	}
	return row{
		Name:  fmt.Sprintf("results whose tokens are counted exactly, %s, of %d between 10 bytes and 1 MB (%d are too long)", name, n, cut),
		Ratio: float64(times) / n, most: 0.4, mostAllocs: -1,
	}, nil
}
