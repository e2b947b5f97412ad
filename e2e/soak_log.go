package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// explained is a text that may come, and why that is right.
type explained struct{ pattern, why string }

// explain is why a text is right; "": it is not.
func explain(table []explained, text string) string {
	for _, e := range table {
		if regexp.MustCompile(e.pattern).MatchString(text) {
			return e.why
		}
	}
	return ""
}

// explainedLines are the lines that a gateway may log while all this goes on. All else
// is a fault: also a warning that is right, until somebody has said here why.
func explainedLines() []explained {
	return []explained{
		{`^ferrule: \w+__count_ask waits for an answer\. In the console, http://127\.0\.0\.1:\d+, or another terminal:$`, "a question is told where it can be answered"},
		{`^  ferrule approvals (show|allow) q\S+( +\(or deny\))?$`, "and how"},
		{`^ferrule: warn: an MCP server wrote what is no message server=garbage `, "this server writes what is no message"},
		{`^ferrule: warn: a request of an MCP server was not answered server=asks `, "this server asks where no call runs"},
		{`^ferrule: warn: telemetry is dropped: the collector does not take it what=(spans|metrics) `, "the collector is away"},
		{`^ferrule: the collector takes telemetry again what=(spans|metrics)$`, "and back"},
		{`^ferrule: stopping: calls that run are finished`, "it was told to end"},
	}
}

// explainedAnswers are the errors that callers may be told.
func explainedAnswers() []explained {
	return []explained{
		{`^Server silent did not answer within 1s`, "this server never answers"},
		{`^Server silent is not asked now: \d+ calls in a row got no answer`, "this server never answers, and is left alone for a while"},
		{`^Server (web|old|new|both) cannot be reached now\. Nothing was done\.`, "a server is away, or was killed before the call was sent"},
		{`^Server web is not asked now: `, "the server over HTTP was away for many calls"},
		{`^The connection to server (web|old|new|both) broke while the call ran\. It may or may not have happened\.`, "a server was killed while the call ran"},
		{`^not today$`, "a person said no"},
		{`^Waiting for a person\. Call again with the same input`, "nobody has answered yet"},
	}
}

// gatewayLog is all that the gateway has logged.
type gatewayLog struct {
	mu      sync.Mutex
	open    []byte // a line that has not ended
	lines   int
	why     map[string]int
	unknown []string
	recent  []string
}

func (g *gatewayLog) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = append(g.open, b...)
	for {
		line, rest, ok := bytes.Cut(g.open, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		g.take(string(line))
		g.open = append(g.open[:0], rest...)
	}
}

func (g *gatewayLog) take(line string) {
	if g.why == nil {
		g.why = make(map[string]int)
	}
	g.lines++
	if g.recent = append(g.recent, line); len(g.recent) > 20 {
		g.recent = g.recent[1:]
	}
	if why := explain(explainedLines(), line); why != "" {
		g.why[why]++
	} else {
		g.unknown = append(g.unknown, line)
	}
}

// last is the end of it.
func (g *gatewayLog) last() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.recent, "\n")
}

func (k *soaking) judgeLog() {
	g := k.log
	g.mu.Lock()
	defer g.mu.Unlock()
	k.s.note("lines of the log, by why", g.why)
	k.s.hold("each line of the log is explained", len(g.unknown) == 0, g.unknown[:min(len(g.unknown), 100)], fmt.Sprintf("%d lines", g.lines))
}
