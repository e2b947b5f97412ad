package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/schema"
)

// hookEvent is what Claude Code writes to a command that is its hook. What it has
// beside this is passed over: later versions add to it.
type hookEvent struct {
	Event      string          // hook_event_name
	Session    string          // session_id
	Dir        string          // cwd: where the client's shell stands
	Mode       string          // permission_mode
	Agent      string          // agent_id: of a subagent; "": the main one
	Tool       string          // tool_name
	Input      json.RawMessage // tool_input
	Use        string          // tool_use_id: the provider's id of the call
	Response   json.RawMessage // tool_response, of PostToolUse
	Error      string          // of PostToolUseFailure
	DurationMS float64         // duration_ms, of both
}

// The events that are answered.
const (
	beforeUse   = "PreToolUse"
	afterUse    = "PostToolUse"
	afterFailed = "PostToolUseFailure"
)

// Bounds of what a client writes.
const (
	maxHookInput = 64 << 20 // bytes: the content of a file may stand in it
	maxHookWord  = 1 << 10  // bytes of a name or an id
	maxHookPath  = 32 << 10
)

// readEvent reads what a client wrote. Names are exact, and none stands there
// twice: it is read as the client means it, or not at all.
func readEvent(text []byte) (ev hookEvent, err error) {
	if len(text) > maxHookInput {
		return ev, fmt.Errorf("standard input: got more than %d bytes, want the JSON of one event", maxHookInput)
	}
	if strings.TrimSpace(string(text)) == "" {
		return ev, errors.New("standard input: got nothing, want the JSON that Claude Code gives to its hooks")
	}
	var fields map[string]json.RawMessage
	if err := schema.Decode(string(text), &fields); err != nil || fields == nil {
		return ev, errors.Join(errors.New("standard input: got no JSON object, want the one that Claude Code gives to its hooks"), err)
	}
	var faults []error
	word := func(name string, most int) (text string) {
		raw, there := fields[name]
		if !there || string(raw) == "null" {
			return ""
		}
		if err := json.Unmarshal(raw, &text); err != nil {
			faults = append(faults, fmt.Errorf("%s: got %.40q, want a text", name, raw))
		}
		if len(text) > most || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			faults = append(faults, fmt.Errorf("%s: got %d bytes, want a text of at most %d without a NUL", name, len(text), most))
			return ""
		}
		return text
	}
	ev = hookEvent{
		Event: word("hook_event_name", maxHookWord), Session: word("session_id", maxHookWord), Dir: word("cwd", maxHookPath),
		Mode: word("permission_mode", maxHookWord), Agent: word("agent_id", maxHookWord), Tool: word("tool_name", maxHookWord), Use: word("tool_use_id", maxHookWord),
		Input: fields["tool_input"], Response: fields["tool_response"], Error: word("error", maxHookInput),
	}
	if raw, there := fields["duration_ms"]; there && json.Unmarshal(raw, &ev.DurationMS) != nil {
		ev.DurationMS = 0
	}
	if string(ev.Input) == "null" {
		ev.Input = nil
	}
	switch ev.Event {
	case beforeUse, afterUse, afterFailed:
		if ev.Tool == "" {
			faults = append(faults, errors.New("tool_name: got nothing, want the name of a tool"))
		}
		if ev.Session == "" {
			faults = append(faults, errors.New("session_id: got nothing, want the name of the session"))
		}
	}
	return ev, errors.Join(faults...)
}

// hookInput reads standard input to its end, or as far as it may go. An interrupt
// does not wait for that.
func (p *program) hookInput(ctx context.Context) ([]byte, error) {
	type ended struct {
		text []byte
		err  error
	}
	end := make(chan ended, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(p.stdin, maxHookInput+1))
		end <- ended{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("standard input has no end: %w", context.Cause(ctx))
	case e := <-end:
		if e.err != nil {
			return nil, fmt.Errorf("standard input: %w", e.err)
		}
		return e.text, nil
	}
}

// hookVerdict is what is answered about a call that the client is about to make.
type hookVerdict struct {
	Decision string // allow, ask or deny; "": the client goes on as it would
	Reason   string
	Input    json.RawMessage // the arguments in the place of those given; nil: those
}

// What is answered.
const (
	hookAllows = "allow"
	hookAsks   = "ask"
	hookDenies = "deny"
)

// hookAnswer is what Claude Code reads.
type hookAnswer struct {
	Specific *hookSpecific `json:"hookSpecificOutput,omitempty"`
	Message  string        `json:"systemMessage,omitempty"`
}

type hookSpecific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
}

// answerHook prints a verdict. One that cannot be printed is told by the exit status
// that blocks.
func (p *program) answerHook(v hookVerdict) error {
	if v.Decision == "" {
		return nil
	}
	err := p.printJSON(hookAnswer{Specific: &hookSpecific{Event: beforeUse, Decision: v.Decision, Reason: v.Reason, Input: v.Input}})
	if err = errors.Join(err, p.out.end()); err != nil {
		return &status{statusUsage, fmt.Errorf("hook: the answer (%s) could not be printed: %w", v.Decision, err)}
	}
	return nil
}
