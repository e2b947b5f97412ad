package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// Script is a conversation that models play. Its fields are set before the first of
// them is asked.
type Script struct {
	// Pace is the time between two words, for who looks on. 0: none.
	Pace time.Duration
	// As is the format of the models. Nil: provider.Anthropic{}.
	As provider.Format

	name  string
	steps []step

	mu     sync.Mutex
	played int // answers that were begun, the earlier ones of the conversation too
}

// step is one answer, and what must have been sent before it.
type step struct {
	line  int // where the answer begins
	wants []want
	parts []provider.Part
	half  string // the call in which it breaks off
	fails error  // how it ends, if not well
	stop  provider.Stop
}

// want is one line that must be found.
type want struct {
	line    int
	text    string
	pattern *regexp.Regexp // nil: text as it stands
}

func (w want) in(sent string) bool {
	if w.pattern != nil {
		return w.pattern.MatchString(sent)
	}
	return strings.Contains(sent, w.text)
}

// Parse reads a script. All that is wrong with it is told, by line.
func Parse(text []byte) (*Script, error) { return parse("script", text) }

// Load reads a script from a file.
func Load(file string) (*Script, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("scripted: %w", err)
	}
	return parse(file, text)
}

// Model is a model that plays the script, for one conversation.
func (s *Script) Model() *Model { return &Model{script: s} }

// Left are the answers that no model of this script has begun, and that are no part of
// a conversation it was asked to go on with: each by its line.
func (s *Script) Left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	for i := s.played; i < len(s.steps); i++ {
		left = append(left, fmt.Sprintf("%s:%d: answer %d was not asked for", s.name, s.steps[i].line, i+1))
	}
	return left
}

func (s *Script) begin(place int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = max(s.played, place+1)
}

// parser reads a script and takes down what is wrong.
type parser struct {
	name   string
	faults []error
}

func (p *parser) fault(line int, format string, args ...any) {
	p.faults = append(p.faults, fmt.Errorf("scripted: %s:%d: %w", p.name, line, fmt.Errorf(format, args...)))
}

func parse(name string, text []byte) (*Script, error) {
	p := &parser{name: name}
	s := &Script{name: name}
	archive := txtar.Parse(text)
	line := 1 + bytes.Count(archive.Comment, []byte("\n")) // of the mark that begins a file
	var wants []want
	wanted := 0 // the line of a want without its answer
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			if wanted > 0 {
				p.fault(line, "got a second want, want the answer to the one in line %d", wanted)
			}
			wanted, wants = line, p.wants(line+1, f.Data)
		case "answer":
			at := p.step(len(s.steps)+1, line, f.Data)
			at.wants = wants
			s.steps = append(s.steps, at)
			wanted, wants = 0, nil
		default:
			p.fault(line, "got the file %q, want want or answer", f.Name)
		}
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	if wanted > 0 {
		p.fault(wanted, "got a want at the end, want an answer behind it")
	}
	if len(s.steps) == 0 && len(p.faults) == 0 {
		p.fault(line, "got no answer, want -- answer -- and below it what the model says")
	}
	if len(p.faults) > 0 {
		return nil, errors.Join(p.faults...)
	}
	return s, nil
}

// lines are the lines of a file, with their numbers.
func lines(first int, data []byte) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for line := range strings.Lines(string(data)) {
			if !yield(first, strings.TrimRight(line, "\r\n")) {
				return
			}
			first++
		}
	}
}

func (p *parser) wants(first int, data []byte) (list []want) {
	for n, line := range lines(first, data) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		w := want{line: n, text: line}
		if len(line) > 1 && line[0] == '/' && line[len(line)-1] == '/' {
			var err error
			if w.pattern, err = regexp.Compile("(?m)" + line[1:len(line)-1]); err != nil {
				p.fault(n, "got %s, want a regular expression: %w", line, err)
				continue
			}
		}
		list = append(list, w)
	}
	return list
}

// step reads an answer, the number-th, whose mark stands in a line.
func (p *parser) step(number, mark int, data []byte) step {
	at := step{line: mark}
	b, before := builder{number: number}, len(p.faults)
	ended := 0 // the line that ends it
	for n, line := range lines(mark+1, data) {
		if ended > 0 && strings.TrimSpace(line) != "" {
			p.fault(n, "got %q, want nothing behind line %d, which ends the answer", line, ended)
			break
		}
		verb, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case strings.HasPrefix(line, `\`):
			b.say(provider.PartText, line[1:])
		case verb == "?":
			b.say(provider.PartThought, rest)
		case verb == ">":
			if err := b.call(rest); err != nil {
				p.fault(n, "%w", err)
			}
		case verb == ">!":
			called, input, _ := strings.Cut(rest, " ")
			if called == "" {
				p.fault(n, "got a call without a name, want >! NAME TEXT")
			}
			b.add("", called, input)
		case verb == "!":
			at.fails, ended = failure(rest), n
		case line == "cut":
			at.fails, ended = errCut, n
		case strings.HasPrefix(line, "cut > "):
			if at.half = strings.TrimSpace(line[len("cut > "):]); at.half == "" || strings.Contains(at.half, " ") {
				p.fault(n, "got %q, want cut > NAME", line)
			}
			at.fails, ended = errCut, n
		case verb == "=":
			if at.stop, ended = provider.Stop(rest), n; !slices.Contains(stops(), at.stop) {
				p.fault(n, "got = %s, want one of %v", rest, stops())
			}
		default:
			b.say(provider.PartText, line)
		}
	}
	at.parts = b.whole()
	switch {
	case at.stop != "" || at.fails != nil:
	case b.calls > 0:
		at.stop = provider.StopCalls
	default:
		at.stop = provider.StopEnd
	}
	if len(at.parts) == 0 && at.fails == nil && len(p.faults) == before {
		p.fault(mark, "got an answer of nothing, want what the model says or calls")
	}
	if repeated := b.repeated(); repeated != "" {
		p.fault(mark, "got the id %q more than once in an answer, want one for each call", repeated)
	}
	return at
}

// stops are those that a script may name.
func stops() []provider.Stop {
	return []provider.Stop{provider.StopEnd, provider.StopCalls, provider.StopLength, provider.StopRefusal, provider.StopPause, provider.StopOther}
}

// failure is what a provider says: behind a status of HTTP as an answer with that, else
// as in a stream.
func failure(text string) error {
	first, rest, _ := strings.Cut(text, " ")
	if code, err := strconv.Atoi(first); err == nil && len(first) == 3 && code >= 100 && code < 600 {
		return provider.ReadError(code, nil, []byte(strings.TrimSpace(rest)))
	}
	return &provider.Error{Text: text}
}

// builder puts lines together to parts.
type builder struct {
	number int // of the answer
	parts  []provider.Part
	calls  int
}

// say adds a line to what is said or thought.
func (b *builder) say(kind provider.PartKind, line string) {
	if last := len(b.parts) - 1; last >= 0 && b.parts[last].Kind == kind {
		b.parts[last].Text += "\n" + line
		return
	}
	b.parts = append(b.parts, provider.Part{Kind: kind, Text: line})
}

// call adds NAME, NAME {…} or NAME #ID {…}.
func (b *builder) call(text string) error {
	name, input, _ := strings.Cut(text, " ")
	if name == "" || strings.HasPrefix(name, "{") {
		return fmt.Errorf("got %q, want > NAME {…}", "> "+text)
	}
	var id string
	if input = strings.TrimSpace(input); strings.HasPrefix(input, "#") {
		id, input, _ = strings.Cut(input[1:], " ")
		if id == "" {
			return errors.New("got # and no id, want > NAME #ID {…}")
		}
	}
	if input = strings.TrimSpace(input); input == "" {
		input = "{}"
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(input), &object); err != nil || object == nil {
		return fmt.Errorf("%s: got %s, want a JSON object (>! NAME TEXT calls with what is none)", name, input)
	}
	b.add(id, name, input)
	return nil
}

func (b *builder) add(id, name, input string) {
	if b.calls++; id == "" {
		id = fmt.Sprintf("call_%d_%d", b.number, b.calls)
	}
	b.parts = append(b.parts, provider.Part{Kind: provider.PartCall, Call: &tool.Call{ID: id, Name: name, Input: json.RawMessage(input)}})
}

// whole are the parts, without empty lines around texts.
func (b *builder) whole() []provider.Part {
	for i := range b.parts {
		b.parts[i].Text = strings.Trim(b.parts[i].Text, "\n")
	}
	return slices.DeleteFunc(b.parts, func(p provider.Part) bool { return p.Kind != provider.PartCall && strings.TrimSpace(p.Text) == "" })
}

func (b *builder) repeated() string {
	seen := make(map[string]bool)
	for _, p := range b.parts {
		if p.Kind != provider.PartCall {
			continue
		}
		if seen[p.Call.ID] {
			return p.Call.ID
		}
		seen[p.Call.ID] = true
	}
	return ""
}
