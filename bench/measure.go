package main

import (
	"fmt"
	"runtime"
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

	most       float64
	mostAllocs int64
}

// measure runs every work in turns, so that a slow moment of the machine hits
// all of them, and keeps the least CPU time of each. The first work is the
// floor.
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
		rows[i].Allocs, rows[i].Bytes = allocations(w)
	}
	for range rounds {
		for i, w := range list {
			ns := float64(cpu(w, counts[i])) / float64(counts[i])
			if rows[i].NS == 0 || ns < rows[i].NS {
				rows[i].NS = ns
			}
		}
	}
	for i := range rows {
		rows[i].Ratio = rows[i].NS / rows[0].NS
	}
	return rows, nil
}

// calibrate is how often w fits into a slice of time.
func calibrate(w work, slice time.Duration) (int, error) {
	if err := w.one(); err != nil {
		return 0, err
	}
	for n := 64; ; n *= 2 {
		if took := cpu(w, n); took > slice/4 {
			return max(n, int(float64(n)*float64(slice)/float64(took))), nil
		}
	}
}

// cpu is the time that n runs of w took on all cores together, the garbage
// collector's included.
func cpu(w work, n int) time.Duration {
	runtime.GC()
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

func allocations(w work) (count, bytes int64) {
	const n = 1000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range n {
		if err := w.one(); err != nil {
			panic(err)
		}
	}
	runtime.ReadMemStats(&after)
	return int64((after.Mallocs - before.Mallocs) / n), int64((after.TotalAlloc - before.TotalAlloc) / n) //nolint:gosec // far below 2^63
}
