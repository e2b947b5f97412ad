package audit_test

import (
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// life is what the runtime emits about one call.
func life() []audit.Event {
	r := &tool.Request{
		Caller: tool.Caller{Principal: "local", Session: "s7dkq2mfzt3n"}, Source: tool.Source{Trust: tool.Own},
		Tool: &tool.Info{Name: "search"}, Name: "search", ID: "s7dkq2mfzt3n-12", CallID: "call_1", Turn: 3, Index: 1, Claims: tool.Claims{Parallel: true},
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	return []audit.Event{
		{Kind: audit.Requested, Time: now, Request: r, Args: `{"pattern":"func main","path":"/home/ada/src","limit":100,"case":true}`},
		{Kind: audit.Decided, Time: now.Add(1001), Request: r, By: "policy", Text: "the program's own", Decision: &tool.Decision{Verdict: tool.Allow, Reason: "the program's own", Rule: "own"}},
		{Kind: audit.Started, Time: now.Add(2002), Request: r},
		{Kind: audit.Ended, Time: now.Add(9009), Request: r, Took: 7007, Result: &tool.Result{Content: []tool.Content{tool.Text(`{"matches":["a.go:1","b.go:2"],"total":2}`)}}},
	}
}

// BenchmarkMemory is what a call that is on the record costs: its four events,
// written and linked.
func BenchmarkMemory(b *testing.B) {
	log := &audit.Memory{Most: 1000}
	events := life()
	b.ReportAllocs()
	for b.Loop() {
		for i := range events {
			events[i].Time = events[i].Time.Add(10_000)
			if _, err := log.Append(events[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkEncoder is the part of it that writes them.
func BenchmarkEncoder(b *testing.B) {
	var enc audit.Encoder
	events := life()
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		for i := range events {
			line = enc.Append(line[:0], &events[i])
		}
	}
}

// BenchmarkChain is the part of it that links them.
func BenchmarkChain(b *testing.B) {
	var enc audit.Encoder
	events := life()
	var lines [][]byte
	for i := range events {
		lines = append(lines, enc.Append(nil, &events[i]))
	}
	c := audit.Chain{Mark: audit.Begin("x")}
	for b.Loop() {
		for _, l := range lines {
			c.Add(1, l)
		}
	}
}
