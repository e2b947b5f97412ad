package main

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is what the gateway held at one time.
type sample struct {
	At         float64 `json:"at"` // seconds since the beginning
	RSS        int64   `json:"rss"`
	Threads    int     `json:"threads"`
	Files      int     `json:"files"`
	Children   int     `json:"children"`
	Goroutines int     `json:"goroutines,omitempty"` // 0: nobody tells
	Heap       int64   `json:"heap,omitempty"`
	Store      int64   `json:"store"` // bytes of the home
}

// looks looks at the gateway all the time.
func (k *soaking) looks(ctx context.Context) error {
	every := min(5*time.Second, k.lasts/40)
	for {
		held, err := sizeOf(k.g.cmd.Process.Pid)
		if err != nil {
			return err
		}
		now := sample{At: time.Since(k.began).Seconds(), RSS: held.RSS, Threads: held.Threads, Files: held.Files, Children: held.Children}
		if now.Store, err = bytesIn(k.home()); err != nil {
			return err
		}
		measured, err := k.metrics(ctx)
		if err != nil {
			return err
		}
		now.Goroutines, now.Heap = int(measured["go_goroutines"]), int64(measured["go_memstats_heap_inuse_bytes"])
		k.samples = append(k.samples, now)
		if n := len(k.samples); n%12 == 0 {
			k.s.note("so far", now)
		}
		if !k.pause(every) {
			return nil
		}
	}
}

// bytesIn is how long all files below a folder are. What vanishes meanwhile is none.
func bytesIn(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum, err
}

// metrics reads what Prometheus would: numbers by name, those of a series summed.
func (k *soaking) metrics(ctx context.Context) (map[string]float64, error) {
	text, err := k.fetch(ctx, k.token, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, err
	}
	all := make(map[string]float64)
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		name, value, ok := cutLast(lines.Text(), " ")
		n, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || strings.HasPrefix(name, "#") {
			continue
		}
		name, _, _ = strings.Cut(name, "{")
		all[name] += n
	}
	k.tally.add("metrics fetched")
	return all, lines.Err()
}

func cutLast(text, sep string) (before, after string, found bool) {
	at := strings.LastIndex(text, sep)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(sep):], true
}

// quarter are the samples of one quarter of the time, 0 to 3.
func (k *soaking) quarter(n int) (some []sample) {
	for _, s := range k.samples {
		if q := int(4 * s.At / k.lasts.Seconds()); min(q, 3) == n {
			some = append(some, s)
		}
	}
	return some
}

// middle is the median of one figure of samples.
func middle[T int | int64](all []sample, of func(sample) T) T {
	var list []T
	for _, s := range all {
		list = append(list, of(s))
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// judgeSamples compares the last quarter with the second: the first is where everything
// is met for the first time, buffers find their size and the collector of garbage its
// pace. Medians, as a moment depends on what runs just then.
func (k *soaking) judgeSamples() {
	second, last := k.quarter(1), k.quarter(3)
	s := k.s
	rss := func(s sample) int64 { return s.RSS }
	files := func(s sample) int { return s.Files }
	threads := func(s sample) int { return s.Threads }
	goroutines := func(s sample) int { return s.Goroutines }
	brief := k.lasts < 5*time.Minute // then the second quarter is the beginning, too
	// Of a heap that does not grow the process holds a tenth more or less, by when garbage
	// was collected; and 8 MiB are what a few results of 1 MB more at that moment need.
	most := func(early int64) int64 { return early + early/10 + 8<<20 }
	if brief {
		most = func(early int64) int64 { return early + early/4 + 16<<20 }
	}
	flat(s, "memory is flat", middle(second, rss), middle(last, rss), most)
	// How many servers over stdio there are depends on who has gone without a word: up to
	// ten for each. They are not counted with the rest, four files and four goroutines each.
	children := func(s sample) int { return s.Children }
	own := func(of func(sample) int) func(sample) int {
		return func(s sample) int { return of(s) - 4*s.Children }
	}
	but := func(more int) func(int) int {
		return func(early int) int {
			if brief {
				return 2 * early // what each call leaves would be more
			}
			return early + more
		}
	}
	flat(s, "servers are no more", middle(second, children), middle(last, children), but(4*soakAway))
	flat(s, "open files are flat", middle(second, own(files)), middle(last, own(files)), but(24))
	flat(s, "threads are flat", middle(second, threads), middle(last, threads), but(8))
	flat(s, "goroutines are flat", middle(second, own(goroutines)), middle(last, own(goroutines)), but(24))
	k.tally.mu.Lock()
	defer k.tally.mu.Unlock()
	heap := func(s sample) int64 { return s.Heap }
	figures := object{
		"minutes": k.lasts.Minutes(), "calls": k.tally.count["sent"], "questions": k.tally.count["questions"],
		"restarts": k.tally.count["servers killed"] + k.tally.count["server over HTTP away"],
		"runs":     k.tally.count["runs"], "spans": k.collector.spans.Load(),
		"rss":                    object{"1/4": at(k.samples, k.lasts/4, rss), "1/2": at(k.samples, k.lasts/2, rss), "1": at(k.samples, k.lasts, rss)},
		"goroutines":             object{"1/4": at(k.samples, k.lasts/4, goroutines), "1/2": at(k.samples, k.lasts/2, goroutines), "1": at(k.samples, k.lasts, goroutines)},
		"heap":                   object{"1/4": at(k.samples, k.lasts/4, heap), "1/2": at(k.samples, k.lasts/2, heap), "1": at(k.samples, k.lasts, heap)},
		"latency, first quarter": k.latency(0, k.lasts/4), "latency, last quarter": k.latency(k.lasts*3/4, k.lasts),
	}
	s.note("figures", figures)
	// Not those of the time when the collector was away.
	s.hold("calls have their spans", k.collector.spans.Load() > int64(k.tally.count["sent"]/2) && k.collector.metrics.Load() > 0, k.collector.spans.Load(), k.tally.count["sent"])
	seen := len(second) >= 5 && len(last) >= 5 && middle(last, goroutines) > 0 && middle(last, heap) > 0
	s.hold("there was something to see", seen && k.tally.count["answered"] > 20, len(k.samples), nil)
}

// flat checks that a figure has not grown by too much.
func flat[T int | int64](s *score, check string, early, late T, most func(T) T) {
	s.hold(check, late <= most(early), object{"second quarter": early, "last quarter": late}, fmt.Sprintf("at most %d", most(early)))
}

// at is the median of the five samples around a time.
func at[T int | int64](all []sample, when time.Duration, of func(sample) T) T {
	i, _ := slices.BinarySearchFunc(all, when.Seconds(), func(s sample, t float64) int {
		return int(1000 * (s.At - t))
	})
	i = min(i, len(all)-1)
	return middle(all[max(0, i-2):min(len(all), i+3)], of)
}

// latency is how long plain calls took that were begun between two times. The mutex of
// the tally is held.
func (k *soaking) latency(from, to time.Duration) object {
	var all []time.Duration
	for _, t := range k.tally.took {
		if since := t.at.Sub(k.began); since >= from && since < to {
			all = append(all, t.took)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return object{"calls": len(all), "p50": all[len(all)/2].String(), "p99": all[len(all)*99/100].String()}
}

// store says what is kept: the record, which grows by design, and results of 1 MB.
func (k *soaking) store() error {
	record, err := os.Stat(filepath.Join(k.home(), "ferrule.db"))
	if err != nil {
		return err
	}
	results, err := bytesIn(filepath.Join(k.home(), "results"))
	if err != nil {
		return err
	}
	k.tally.mu.Lock()
	defer k.tally.mu.Unlock()
	calls := int64(k.tally.count["sent"] + k.tally.count["runs"]*killedTurns*(killedCalls+1))
	k.s.note("store, in bytes", object{"record": record.Size(), "calls": calls, "record of a call": record.Size() / max(1, calls), "results that are kept": results})
	return nil
}
