package mcptool

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestCrew(t *testing.T) {
	t.Parallel()
	t.Run("all is done, however much at once", func(t *testing.T) {
		t.Parallel()
		var c crew
		var done atomic.Int64
		var all sync.WaitGroup
		for range 10 * maxIdle {
			all.Add(1)
			c.do(func() { defer all.Done(); done.Add(1) })
		}
		all.Wait()
		c.close()
		if got := done.Load(); got != 10*maxIdle {
			t.Errorf("got %d done, want %d", got, 10*maxIdle)
		}
	})
	t.Run("who has nothing to do is asked again, and few are kept", func(t *testing.T) {
		t.Parallel()
		var c crew
		defer c.close()
		begun, stop := make(chan struct{}), make(chan struct{})
		for range 2 * maxIdle {
			c.do(func() { begun <- struct{}{}; <-stop })
			<-begun
		}
		close(stop)
		idle := func() int {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.idle)
		}
		for idle() < maxIdle {
			done := make(chan struct{})
			c.do(func() { close(done) }) // gives the others time
			<-done
		}
		if got := idle(); got > maxIdle {
			t.Errorf("got %d kept, want %d at most", got, maxIdle)
		}
	})
	t.Run("close waits for what runs, and what comes after it is done", func(t *testing.T) {
		t.Parallel()
		var c crew
		var ended atomic.Bool
		stop, began := make(chan struct{}), make(chan struct{})
		c.do(func() { close(began); <-stop; ended.Store(true) })
		<-began
		go close(stop)
		c.close()
		if !ended.Load() {
			t.Error("close returned before all was done")
		}
		after := make(chan struct{})
		c.do(func() { close(after) })
		<-after
	})
}
