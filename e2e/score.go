package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// score is what became of one part. Its lines are JSON, so that programs can read
// figures from them.
type score struct {
	part string
	out  io.Writer

	mu                     sync.Mutex
	passed, failed, missed int
	faults                 []string // the checks that failed
}

// line is one line of the output.
type line struct {
	Part   string `json:"part"`
	Check  string `json:"check,omitempty"`
	Result string `json:"result,omitempty"` // passed, failed, missed
	Got    any    `json:"got,omitempty"`
	Want   any    `json:"want,omitempty"`

	Summary *summary `json:"summary,omitempty"`
}

type summary struct {
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Missed  int     `json:"missed"`
	Seconds float64 `json:"seconds"`
}

// hold says, and returns, whether something held that must.
func (s *score) hold(check string, ok bool, got, want any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := line{Part: s.part, Check: check, Result: "passed", Got: got, Want: want}
	if s.passed++; !ok {
		s.passed--
		s.failed++
		s.faults = append(s.faults, check)
		l.Result = "failed"
	}
	s.print(l)
	return ok
}

// note says something that is neither right nor wrong.
func (s *score) note(check string, got any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(line{Part: s.part, Check: check, Got: got})
}

// fail says that something did not hold.
func (s *score) fail(check string, got any) { s.hold(check, false, got, nil) }

// miss says what is known not to hold.
func (s *score) miss(check string, got, want any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed++
	s.print(line{Part: s.part, Check: check, Result: "missed", Got: got, Want: want})
}

func (s *score) summary(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(line{Part: s.part, Summary: &summary{s.passed, s.failed, s.missed, float64(took.Milliseconds()) / 1000}})
}

func (s *score) print(l line) {
	text, err := json.Marshal(l)
	if err != nil {
		text = fmt.Appendf(nil, "%q", err.Error())
	}
	fmt.Fprintf(s.out, "%s\n", text)
}
