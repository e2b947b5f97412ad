package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// figures are how fast it is.
func (w *world) figures(ctx context.Context) error {
	dir, err := w.folder("many")
	if err != nil {
		return err
	}
	if err := write(dir, "a.txt", "a\n"); err != nil {
		return err
	}
	g, err := w.up(ctx, dir, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer g.stop()
	c, err := g.client(ctx)
	if err != nil {
		return err
	}
	if err := fill(ctx, c); err != nil {
		return err
	}
	for _, path := range []string{"/", "/history"} {
		var times []time.Duration
		size := 0
		for range 21 {
			body, took, err := g.get(ctx, path)
			if err != nil {
				return err
			}
			times, size = append(times, took), len(body)
		}
		slices.Sort(times)
		w.within(fmt.Sprintf("%s with %d calls in the store: the middle of 21", path, manyCalls), float64(times[len(times)/2].Microseconds())/1000, 50, "ms")
		w.within(path+": its size", float64(size)/1000, 100, "KB")
	}
	return w.live(ctx, g, c)
}

// manyCalls is how many calls are in the store.
const manyCalls = 10_000

// fill makes many calls.
func fill(ctx context.Context, c *client) error {
	work, errs := make(chan int), make(chan error, 8)
	for range cap(errs) {
		go func() {
			var err error
			for i := range work {
				if err == nil {
					_, err = c.call(ctx, "fs_read", map[string]any{"path": "a.txt", "offset": i % 7})
				}
			}
			errs <- err
		}()
	}
	for i := range manyCalls {
		work <- i
	}
	close(work)
	for range cap(errs) {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// live measures from the call to the page that shows its question, in one clock: that
// of this machine.
func (w *world) live(ctx context.Context, g *gateway, c *client) error {
	t, err := w.enter(ctx, g)
	if err != nil {
		return err
	}
	defer t.b.end()
	if err := t.sees("document.querySelector('#live')?.dataset.state === 'on'"); err != nil {
		return err
	}
	// When the page has shown a question.
	if err := t.eval(`window.told = []; new MutationObserver(() => { if (document.querySelector(".card[data-question]")) told.push(Date.now()); }).observe(document.querySelector("main"), { childList: true, subtree: true }); true`, nil); err != nil {
		return err
	}
	var times []float64
	for i := range 20 {
		began := time.Now()
		over := c.begin(ctx, "fs_write", map[string]any{"path": fmt.Sprintf("n%d.md", i), "content": "n"})
		shown := fmt.Sprintf("told.find((at) => at >= %d)", began.UnixMilli())
		if err := t.sees(shown); err != nil {
			return err
		}
		var at float64
		if err := t.eval(shown, &at); err != nil {
			return err
		}
		times = append(times, at-float64(began.UnixMilli()))
		if err := steps(
			t.looked,
			func() error { return t.click(`button[value="deny"]`) },
			func() error { return gives(over, "isError") },
			func() error { return t.sees("!document.querySelector('" + card + "')") },
			func() error { return t.eval("told.length = 0; true", nil) },
		); err != nil {
			return err
		}
	}
	slices.Sort(times)
	w.within("a new question is shown by an open page, from the client's request on: the middle of 20", times[len(times)/2], 100, "ms")
	w.print(map[string]any{"figure": "the same, the worst of 20", "got": times[len(times)-1], "unit": "ms"})
	return nil
}
