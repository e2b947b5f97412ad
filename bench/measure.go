package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

// row is one line of report.json.
type row struct {
	Name   string  `json:"name"`
	NS     float64 `json:"ns"`
	Allocs int64   `json:"allocs"`
	Bytes  int64   `json:"bytes"`
	Ratio  float64 `json:"ratio_to_floor"`

	times      []float64 // of each round
	most       float64
	mostAllocs int64
	mostTime   time.Duration // of hostile input, which has no ratio
	step       string        // of hostile input: what took that time
}

// How often works take turns, and for how long.
const (
	rounds = 12
	slice  = 100 * time.Millisecond
)

// measure runs every work in turns, a slice of time each, so that each of them,
// and the floor, which is the first, meets the machine's quiet moments.
func measure(list []work, rounds int, slice time.Duration) ([]row, error) {
	rows := make([]row, len(list))
	counts := make([]int, len(list))
	for i, w := range list {
		rows[i] = row{Name: w.name, most: w.ratio, mostAllocs: w.allocs}
		n, err := calibrate(w, slice)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		counts[i] = n
		rows[i].Allocs, rows[i].Bytes = allocations(w, min(n, 1000))
	}
	for range rounds {
		for i, w := range list {
			rows[i].times = append(rows[i].times, float64(cpu(w, counts[i]))/float64(counts[i]))
		}
	}
	settle(rows)
	return rows, nil
}

// settle works out each row from the times of its rounds. The least counts, of a
// work and of the floor alike: whatever else the machine does can only add to a
// time, and it adds to some works more than to others, so that the least is
// nearest to what a work costs.
func settle(rows []row) {
	for i, r := range rows {
		rows[i].NS = slices.Min(r.times)
		rows[i].Ratio = rows[i].NS / rows[0].NS
	}
}

// calibrate is how often w fits into a slice of time.
func calibrate(w work, slice time.Duration) (int, error) {
	if err := w.one(); err != nil {
		return 0, err
	}
	for n := 1; ; n *= 2 {
		if took := spent(w, n); took > slice/4 {
			return max(n, int(float64(n)*float64(slice)/float64(took))), nil
		}
	}
}

// cpu is what n runs of w took, none of it for collecting garbage: how much that
// takes depends on what else is in memory, and what is allocated is a figure of
// its own.
func cpu(w work, n int) time.Duration {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return spent(w, n)
}

// spent is the time that n runs of w took on all cores together.
func spent(w work, n int) time.Duration {
	before := usage()
	for range n {
		if err := w.one(); err != nil {
			panic(err) // it worked when calibrated
		}
	}
	return usage() - before
}

func usage() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// allocations is what one of n runs of w allocates, rounded up. What the
// runtime allocates beside it is not counted: of some tries the least is taken.
func allocations(w work, n int) (count, bytes int64) {
	const tries = 10
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	leastCount, leastBytes := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for range tries {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			if err := w.one(); err != nil {
				panic(err)
			}
		}
		runtime.ReadMemStats(&after)
		leastCount = min(leastCount, after.Mallocs-before.Mallocs)
		leastBytes = min(leastBytes, after.TotalAlloc-before.TotalAlloc)
	}
	each := func(total uint64) int64 { return int64((total + uint64(n) - 1) / uint64(n)) } //nolint:gosec // n is positive, the rest far below 2^63
	return each(leastCount), each(leastBytes)
}
