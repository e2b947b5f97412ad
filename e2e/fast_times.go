package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// caller makes one call and waits for its answer.
type caller interface {
	do(ctx context.Context, method string, params object) (json.RawMessage, error)
}

// action is something that a caller does, and how long it took.
type action func(context.Context, caller) (time.Duration, error)

// slack is how many times its bound a ratio may be before it fails: the gateway is
// not as fast as it must become, and what is over its bound is printed as missed.
const slack = 5

// ratio says how long something takes in terms of something else.
func (s *score) ratio(check string, got, base time.Duration, most float64) {
	r := float64(got) / float64(base)
	figures, want := object{"ratio": r, "p50": got.String(), "base": base.String()}, fmt.Sprintf("at most %.2f", most)
	if r > most && r <= slack*most {
		s.miss(check, figures, want)
		return
	}
	s.hold(check, r <= most, figures, want)
}

// echo is the call that is measured: small, of a tool that only reads.
func echo(ctx context.Context, c caller) (time.Duration, error) {
	text := strconv.FormatInt(time.Now().UnixNano(), 36)
	params := object{"name": "echo", "arguments": object{"text": text}}
	start := time.Now()
	result, err := c.do(ctx, "tools/call", params)
	took := time.Since(start)
	if err == nil && !bytes.Contains(result, []byte(text)) {
		err = fmt.Errorf("got %s, want %s in it", result, text)
	}
	return took, err
}

// list has all tools listed, to the last byte.
func list(ctx context.Context, c caller) (time.Duration, error) {
	start := time.Now()
	result, err := c.do(ctx, "tools/list", object{})
	took := time.Since(start)
	if err == nil && !bytes.Contains(result, []byte(`"tool_0999"`)) {
		err = fmt.Errorf("got %d bytes without tool_0999, want 1,001 tools", len(result))
	}
	return took, err
}

// interleaved has each caller do something n times in turn, and returns the median
// of each. The first tenth warms up.
func interleaved(ctx context.Context, times int, do action, callers []caller) ([]time.Duration, error) {
	took := make([][]time.Duration, len(callers))
	warm := times / 10
	for n := range times + warm {
		for i, c := range callers {
			d, err := do(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("caller %d: %w", i, err)
			}
			if n >= warm {
				took[i] = append(took[i], d)
			}
		}
	}
	var p50 []time.Duration
	for _, t := range took {
		p50 = append(p50, median(t))
	}
	return p50, nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// concurrently is the median of calls by many clients at once.
func (w *world) concurrently(ctx context.Context, url string, clients int) (time.Duration, error) {
	shared := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer shared.CloseIdleConnections()
	took, faults := make([][]time.Duration, clients), make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			c := &wire{url: url, client: shared}
			defer c.close(ctx)
			if faults[i] = c.hello(ctx); faults[i] != nil {
				return
			}
			for range max(1, w.calls/clients) {
				d, err := echo(ctx, c)
				if err != nil {
					faults[i] = err
					return
				}
				took[i] = append(took[i], d)
			}
		})
	}
	all.Wait()
	for _, err := range faults {
		if err != nil {
			return 0, err
		}
	}
	return median(slices.Concat(took...)), nil
}
