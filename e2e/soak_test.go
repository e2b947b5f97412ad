package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the soak takes for right must be right: each of its checks can fail.

func TestSoakSamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		held func(at float64) sample // at: from 0 to 1
		want []string                // what does not hold
	}{
		{"all is flat", func(at float64) sample { return sample{RSS: 200 << 20, Files: 100, Threads: 20, Goroutines: 100} }, nil},
		{"it grows in the beginning", func(at float64) sample {
			return sample{RSS: int64(min(at, 0.2) * 1000 * (1 << 20)), Files: 100, Threads: 20, Goroutines: 100}
		}, nil},
		{"memory grows", func(at float64) sample {
			return sample{RSS: int64((200 + 100*at) * (1 << 20)), Files: 100, Threads: 20, Goroutines: 100}
		}, []string{"memory is flat"}},
		{"files are left open", func(at float64) sample {
			return sample{RSS: 200 << 20, Files: 100 + int(100*at), Threads: 20, Goroutines: 100}
		}, []string{"open files are flat"}},
		{"threads are left", func(at float64) sample {
			return sample{RSS: 200 << 20, Files: 100, Threads: 20 + int(40*at), Goroutines: 100}
		}, []string{"threads are flat"}},
		{"goroutines are left", func(at float64) sample {
			return sample{RSS: 200 << 20, Files: 100, Threads: 20, Goroutines: 100 + int(100*at)}
		}, []string{"goroutines are flat"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := &soaking{s: &score{out: io.Discard}, lasts: 30 * time.Minute, collector: new(collector)}
			k.collector.spans.Store(1)
			k.collector.metrics.Store(1)
			for i := range 360 {
				held := tt.held(float64(i) / 360)
				held.At, held.Heap, held.Children = float64(i)*5, 50<<20, 10
				k.samples = append(k.samples, held)
			}
			for range 21 {
				k.tally.add("answered")
			}
			k.judgeSamples()
			if !slices.Equal(k.s.faults, tt.want) {
				t.Errorf("got %q, want %q", k.s.faults, tt.want)
			}
		})
	}
}

func TestSoakCalls(t *testing.T) {
	t.Parallel()
	const answered = `{"content":[{"text":"a"}]}`
	refused := func(text string) string { return fmt.Sprintf(`{"isError":true,"content":[{"text":%q}]}`, text) }
	for _, tt := range []struct {
		name string
		do   func(*tally)
		book string
		want []string
	}{
		{"all is well", func(t *tally) { t.ran = append(t.ran, "a") }, "call a 1\ndone a 1\n", nil},
		{"it ran twice", func(t *tally) { t.ran = append(t.ran, "a") }, "call a 1\ncall a 2\n", []string{"no call ran twice"}},
		{"it was answered and never ran", func(t *tally) { t.ran = append(t.ran, "a") }, "", []string{"what was answered was run"}},
		{"it was denied and ran", func(t *tally) { t.unrun = append(t.unrun, "a") }, "call a 1\n", []string{"what nobody allowed was not run"}},
		{"it has no answer", func(t *tally) {
			t.add("sent")
			t.take("x", nil, errors.New("EOF"), false)
		}, "", []string{"each call has one answer, or its client has left", "nothing else came of calls"}},
		{"nobody wants it any more", func(t *tally) {
			t.add("sent")
			t.take("x", nil, errors.New("EOF"), true)
		}, "", nil},
		{"an error that is explained", func(t *tally) {
			t.add("sent")
			t.take("x", []byte(refused("not today")), nil, false)
		}, "", nil},
		{"an error that is not", func(t *tally) {
			t.add("sent")
			t.take("x", []byte(refused("index out of range")), nil, false)
		}, "", []string{"nothing else came of calls"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "book")
			put(t, file, "start - 1\nstart - 2\n"+tt.book)
			k := &soaking{s: &score{out: io.Discard}, l: &ledger{file: file}}
			for range 10 {
				k.tally.add("sent")
				k.tally.take("x", []byte(answered), nil, false)
			}
			tt.do(&k.tally)
			k.judgeCalls()
			if !slices.Equal(k.s.faults, tt.want) {
				t.Errorf("got %q, want %q", k.s.faults, tt.want)
			}
		})
	}
}

func TestSoakLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, log string
		want      int // lines that nothing explains
	}{
		{"nothing", "", 0},
		{"a line that comes bit by bit", "ferrule: stopping: calls that run are finished\n", 0},
		{"a warning", "ferrule: warn: the list of tools could not be kept server=old why=disk full\n", 1},
		{"of another server", "ferrule: warn: an MCP server wrote what is no message server=old line=x\n", 1},
		{"a panic", "panic: x\n\ngoroutine 1 [running]:\n", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var g gatewayLog
			for chunk := range slices.Chunk([]byte(tt.log), 7) {
				if _, err := g.Write(chunk); err != nil {
					t.Fatal(err)
				}
			}
			if len(g.unknown) != tt.want || g.lines != strings.Count(tt.log, "\n") {
				t.Errorf("got %q of %d lines, want %d", g.unknown, g.lines, tt.want)
			}
		})
	}
}

func TestSpansIn(t *testing.T) {
	t.Parallel()
	field := func(number byte, inner ...[]byte) []byte {
		text := bytes.Join(inner, nil)
		return append([]byte{number<<3 | 2, byte(len(text))}, text...)
	}
	span := field(2, []byte{0x39, 1, 2, 3, 4, 5, 6, 7, 8}, []byte{0x85, 1, 1, 2, 3, 4}, []byte{0x30, 0x81, 0x01})
	message := slices.Concat(
		field(1, field(1, []byte{0x10, 1}), field(2, field(1), span, span)),
		field(1, field(2, span)),
	)
	if n := spansIn(message); n != 3 {
		t.Errorf("got %d spans, want 3", n)
	}
	for i := range message { // what is cut off does no harm
		if n := spansIn(message[:i]); n > 3 {
			t.Errorf("the first %d bytes: got %d spans", i, n)
		}
	}
}
