package mcptool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

const (
	// pinEvery is how often it is looked whether somebody else has changed the pins.
	pinEvery = 500 * time.Millisecond
	// maxPreview is how long the text of a question is, in bytes. What does not fit is
	// asked about when this is answered, or accepted with ferrule pins.
	maxPreview = 32 << 10
	// maxPreviewed is how much is compared for that, in bytes: the pins of the server
	// are locked meanwhile.
	maxPreviewed = 8 << 20
)

// shownOf is which tools fit into one question: digests, by name.
func (f *pinFile) shownOf() (tools map[string]string, preview string) {
	tools = make(map[string]string)
	var b strings.Builder
	more, work := 0, 0
	for _, e := range f.asks() {
		if work += e.size(); work > maxPreviewed {
			more++
			continue
		}
		text := e.preview()
		if b.Len()+len(text) > maxPreview {
			more++
			continue
		}
		tools[e.Tool] = e.Waiting.Digest
		b.WriteString(text)
	}
	if more > 0 {
		fmt.Fprintf(&b, "%d more wait, which are too long to be shown here and are not part of this question: ferrule pins diff %s\n", more, f.Server)
	}
	return tools, b.String()
}

// size is how much there is to compare for a preview.
func (e *pinEntry) size() int {
	n := len(e.Waiting.Definition)
	if e.Accepted != nil {
		n += len(e.Accepted.Definition)
	}
	return n
}

// preview shows a tool that waits.
func (e *pinEntry) preview() string {
	state, why := e.state()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", visibleLine(e.Tool, 128), state)
	if why != "" {
		b.WriteString(": " + why)
	}
	b.WriteByte('\n')
	var accepted json.RawMessage
	if e.Accepted != nil {
		accepted = e.Accepted.Definition
	}
	for line := range strings.Lines(diffOf(accepted, e.Waiting.Definition, maxPreview)) {
		b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// question gives the file the question that is to be asked, and returns the id of
// one that is not to be answered any more; "": none. A server that changes its tools
// all the time is asked about ever more rarely.
func (f *pinFile) question(now time.Time) (over string) {
	old := f.Question
	if f.asksTheSame() && !old.due(now) {
		return ""
	}
	next := &pinQuestion{Whole: f.wholeDigest()}
	if old != nil {
		over, next.Asked = old.ID, old.Asked
		if next.Times = old.Times; now.Sub(old.Asked) > calmTime {
			next.Times = 0
		}
	}
	next.Tools, _ = f.shownOf()
	next.Digest = f.digestOf(next.Tools)
	if f.Question = next; next.due(now) {
		next.ID = newPinID()
		next.Asked, next.Times = now, next.Times+1
	}
	return over
}

// calmTime is after how long without a question earlier ones do not count.
const calmTime = time.Hour

// due reports whether a question is to be put that was not.
func (q *pinQuestion) due(now time.Time) bool {
	if q == nil || q.ID != "" || len(q.Tools) == 0 {
		return false
	}
	const free = 3 // questions that are put at once
	if q.Times < free {
		return true
	}
	return now.Sub(q.Asked) >= min(time.Second<<min(q.Times-free+1, 16), calmTime/6)
}

// asksTheSame reports whether the question is about all that is to be asked. It does
// without definitions.
func (f *pinFile) asksTheSame() bool {
	if f.Question == nil {
		return len(f.asks()) == 0
	}
	return f.Question.Whole == f.wholeDigest()
}

func (f *pinFile) wholeDigest() string {
	all := make(map[string]string)
	for _, e := range f.asks() {
		all[e.Tool] = e.Waiting.Digest
	}
	return f.digestOf(all)
}

// askPins puts the question, and takes the answer where there may be one: then what
// is kept may be something else, and it reports true.
func (s *server) askPins(ctx context.Context, kept *pinFile) (again bool, err error) {
	inbox := s.hub.Runtime.Inbox
	if inbox == nil || kept == nil || kept.Question == nil || kept.Question.ID == "" || s.pins.asked == kept.Question.ID && !s.pins.answered {
		return false, nil
	}
	s.pins.answered = false
	ctx, cancel := context.WithTimeout(ctx, inboxTime)
	defer cancel()
	if s.pins.asked != kept.Question.ID {
		if err := s.putQuestion(ctx, inbox); err != nil {
			// The tools stay out, and can be accepted in another way.
			s.hub.log().LogAttrs(ctx, slog.LevelWarn, "nobody can be asked about the tools of a server", slog.String("server", s.Name), slog.String("why", err.Error()))
			return false, nil
		}
		s.pins.asked = kept.Question.ID
	}
	return true, s.useAnswer(ctx, inbox)
}

// putQuestion asks what the file says is to be asked. An inbox that knows it leaves
// it as it is.
func (s *server) putQuestion(ctx context.Context, inbox policy.Inbox) error {
	f, _, err := readPins(s.pinFile())
	if err != nil || f.Question == nil {
		return err
	}
	tools, preview := f.shownOf()
	if !maps.Equal(tools, f.Question.Tools) {
		return errors.New("what is to be asked has changed meanwhile")
	}
	preview += s.pointedOut(f, tools)
	input, err := json.Marshal(pinInput{s.Name, tools})
	if err != nil {
		return err
	}
	return inbox.Ask(ctx, policy.Question{
		ID: f.Question.ID, Digest: f.Question.Digest, Tool: pinsNamed(s.Name), Source: s.source(),
		// It can be taken back, and does nothing elsewhere.
		Claims: tool.Claims{Reversible: true, Local: true},
		Input:  string(input), Preview: preview, Reason: f.asking(), Rule: byPins,
		Note:  "allow accepts these definitions and no others; deny leaves the tools out",
		Asked: time.Now(),
	})
}

// pointedOut is what there is to see in the definitions that a question is about.
func (s *server) pointedOut(f *pinFile, tools map[string]string) string {
	if s.hub.Look == nil {
		return ""
	}
	var b strings.Builder
	for _, e := range f.asks() {
		if tools[e.Tool] == "" {
			continue
		}
		for _, line := range s.hub.Look(e.Waiting.Definition) {
			if b.Len() > maxPreview/4 {
				return b.String() + "there is more of this kind: ferrule pins diff " + s.Name + "\n"
			}
			fmt.Fprintf(&b, "! %s: %s\n", visibleLine(e.Tool, 128), visibleLine(line, 400))
		}
	}
	return b.String()
}

// asking says why a person is asked.
func (f *pinFile) asking() string {
	by := make(map[PinState][]string)
	for _, e := range f.asks() {
		state, _ := e.state()
		by[state] = append(by[state], visibleLine(e.Tool, 60))
	}
	var all []string
	for _, state := range []PinState{PinChanged, PinBlocked, PinNew} {
		if names := by[state]; len(names) > 0 {
			shown := names[:min(len(names), 5)]
			text := fmt.Sprintf("%s: %s", state, strings.Join(shown, ", "))
			if more := len(names) - len(shown); more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			all = append(all, text)
		}
	}
	return fmt.Sprintf("the tools of server %s are not what was accepted (%s)", f.Server, strings.Join(all, "; "))
}

// useAnswer takes the answer while nobody else does.
func (s *server) useAnswer(ctx context.Context, inbox policy.Inbox) error {
	kept, info, err := takeAnswer(ctx, s.pinFile(), inbox, "")
	if err == nil {
		s.keep(kept, info)
	}
	return err
}

// withdraw takes back a question that is not to be answered any more. What is kept
// does not name it any longer, so that nobody does it later where this process ends.
func (s *server) withdraw(ctx context.Context, id string) {
	inbox := s.hub.Runtime.Inbox
	if inbox == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), inboxTime)
	defer cancel()
	if err := withdrawPins(ctx, inbox, id); err != nil {
		s.hub.log().LogAttrs(ctx, slog.LevelWarn, "a question could not be withdrawn", slog.String("server", s.Name), slog.String("why", err.Error()))
	}
}

// newPinID names a question. It is by chance from its second letter on, as all ids:
// people say how one begins, and must not name the next question with that.
func newPinID() string { return "p" + strings.ToLower(rand.Text()[:16]) }

// attendPins judges the tools of the server anew where somebody has accepted or
// rejected them, here or in another process, until ctx ends. Each server has its own:
// one that takes long holds up none of the others.
func (s *server) attendPins(ctx context.Context) {
	var (
		mu   sync.Mutex
		ids  []string // of questions that were answered
		wake = make(chan struct{}, 1)
	)
	if inbox := s.hub.Runtime.Inbox; inbox != nil {
		defer inbox.Watch(func(id string) {
			if !strings.HasPrefix(id, "p") {
				return
			}
			mu.Lock()
			ids = append(ids, id)
			mu.Unlock()
			select {
			case wake <- struct{}{}:
			default:
			}
		})()
	}
	tick := time.NewTicker(pinEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-tick.C:
		}
		mu.Lock()
		answered := ids
		ids = nil
		mu.Unlock()
		if s.pinsChanged(answered) {
			s.repin(ctx)
		}
	}
}

// pinsChanged reports whether the tools are to be judged anew: one of these
// questions was about them, the file is another, or it could not be used and it is
// time to try again.
func (s *server) pinsChanged(answered []string) bool {
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	if s.pins.asked != "" && slices.Contains(answered, s.pins.asked) {
		s.pins.answered = true
		return true
	}
	if s.pins.fault != "" {
		return time.Now().After(s.pins.retry)
	}
	if s.pins.kept != nil && s.pins.kept.Question.due(time.Now()) {
		return true
	}
	info, err := os.Stat(s.pinFile())
	if err != nil || s.pins.info == nil {
		return s.pins.kept != nil || err == nil
	}
	return !samePinFile(info, s.pins.info)
}
