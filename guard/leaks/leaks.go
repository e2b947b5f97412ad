// Package leaks finds keys and tokens of some 250 services in texts, by the rules of
// betterleaks. It fills the seam of package guard/redact.
//
// What is found depends on the form of a key and on what stands around it on its
// line. The rules are made for source code: keys that are marked there as examples,
// or that look like words, are not reported. A comment that tells the scanner to
// look away counts for nothing here, since a stranger may have written it.
//
// Loading takes most of a second once, and some 40 MB. [Scanner.Start] does it in
// the background; a scan waits for it, unless the text holds none of the words that
// rules name: those are known before.
package leaks

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/betterleaks/betterleaks/detect"
	"github.com/betterleaks/betterleaks/logging"
	"github.com/betterleaks/betterleaks/report"

	"github.com/ferrule-dev/ferrule/guard/leaks/before"
	"github.com/ferrule-dev/ferrule/guard/redact"
)

const (
	window  = 32 << 10 // bytes that are looked at together
	overlap = 4 << 10  // bytes of a window that are in the next one, too
)

// The packages above are initialised by now, and have set their variables.
//
//nolint:gochecknoglobals // they have to be set back before anything is started
var environment = before.Restore()

// Scanner finds keys and tokens. The zero value is ready: the first scan loads the
// rules. It is safe for concurrent use.
type Scanner struct {
	once     sync.Once
	detector *detect.Detector
	kinds    map[string]string // of rules
	err      error
}

var _ redact.Scanner = (*Scanner)(nil)

// Start loads the rules in the background. The function that it returns waits until
// that is done, and gives its error.
func (s *Scanner) Start() (wait func() error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Warm()
	}()
	return func() error {
		<-done
		return s.err
	}
}

// Warm loads the rules, or waits for who does. After an error every scan fails.
func (s *Scanner) Warm() error {
	s.once.Do(func() {
		s.err = errors.New("leaks: the rules could not be loaded") // where it panics
		defer func() {
			if p := recover(); p != nil {
				s.err = fmt.Errorf("leaks: loading the rules: %v", p)
			}
		}()
		s.err = s.load()
	})
	return s.err
}

// silence ends the log of betterleaks, which all of a process share: what it says may
// hold what it found.
//
//nolint:gochecknoglobals // once for all: others may be reading it the next time
var silence = sync.OnceFunc(func() { logging.Logger = logging.Logger.Output(io.Discard) })

func (s *Scanner) load() error {
	if environment != nil {
		return fmt.Errorf("leaks: environment: %w", environment)
	}
	silence()
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return fmt.Errorf("leaks: %w", err)
	}
	d.IgnoreGitleaksAllow = true
	s.kinds = make(map[string]string)
	for id, rule := range d.Config.Rules {
		s.kinds[id] = kindOf(id)
		switch id {
		case "hashicorp-tf-password", "kubernetes-secret-yaml":
			continue // only the ending of a file makes them sure enough
		}
		if rule.Regex == nil {
			continue // about files
		}
		rule.Path = nil          // texts have none
		rule.RequiredRules = nil // half a pair is a secret, too
		d.Config.Rules[id] = rule
	}
	s.detector = d
	s.scan("warm = up") // the regular expressions have pools of their own
	return nil
}

// Scan finds keys and tokens in a text. Where a word stands in it that rules name, it
// waits until the rules are loaded. A fault of a rule is an error, never a panic.
func (s *Scanner) Scan(text string) (found []redact.Span, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, fmt.Errorf("leaks: scan: %v", p)
		}
	}()
	words := known()
	for at := 0; ; at += window - overlap {
		part := text[at:min(len(text), at+window)]
		if words.in(part) {
			if err := s.Warm(); err != nil {
				return nil, err
			}
			for _, sp := range s.scan(part) {
				sp.Start, sp.End = sp.Start+at, sp.End+at
				found = append(found, sp)
			}
		}
		if at+window >= len(text) {
			return found, nil
		}
	}
}

func (s *Scanner) scan(text string) []redact.Span {
	var found []redact.Span
	for _, f := range s.detector.DetectString(text) {
		start := place(text, f)
		if start < 0 || f.Secret == "" {
			continue
		}
		if i := strings.LastIndex(f.Match, f.Secret); i >= 0 {
			found = append(found, redact.Span{Start: start + i, End: start + i + len(f.Secret), Kind: s.kinds[f.RuleID]})
		} else {
			found = append(found, redact.Span{Start: start, End: start + len(f.Match), Kind: s.kinds[f.RuleID]})
		}
	}
	return found
}

// place is where the match of a finding begins, or -1. Lines count from 0, columns
// from 1: in the first line from its beginning, in others from the line break before.
func place(text string, f report.Finding) int {
	at := 0
	for range f.StartLine {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	if at > 0 {
		at--
	}
	if at += f.StartColumn - 1; at >= 0 && at <= len(text) && strings.HasPrefix(text[at:], f.Match) {
		return at
	}
	return strings.Index(text, f.Match)
}

// Rule is what a scanner looks for: the pattern of betterleaks that finds it.
type Rule struct {
	ID      string // as betterleaks names it
	Kind    string // as spans do
	Pattern string // a regular expression
	Group   int    // of the pattern, which is the value; 0 is the first that matches, or all
}

// Rules are those of a scanner that can find something in a text, by their ids.
func (s *Scanner) Rules() ([]Rule, error) {
	if err := s.Warm(); err != nil {
		return nil, err
	}
	var all []Rule
	for id, rule := range s.detector.Config.Rules {
		if rule.Regex != nil && rule.Path == nil && !rule.SkipReport {
			all = append(all, Rule{id, s.kinds[id], rule.Regex.String(), rule.SecretGroup})
		}
	}
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}
