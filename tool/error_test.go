package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// kindWords are the kinds as the specification lists them.
func kindWords() []string {
	return strings.Fields("unknown_tool not_loaded invalid_input invalid_value denied rejected expired needs_user hook_blocked failed timeout aborted " +
		"invalid_output unsafe_content flow_blocked sandbox rate_limited outcome_unknown loop pending suspended")
}

func TestKinds(t *testing.T) {
	tests := []struct {
		kind  tool.Kind
		word  string
		again bool
		hint  string
	}{
		{tool.UnknownTool, "unknown_tool", true, "Call one of the tools you were offered."},
		{tool.NotLoaded, "not_loaded", true, "Call it again."},
		{tool.InvalidInput, "invalid_input", true, "Mend the arguments and call again."},
		{tool.InvalidValue, "invalid_value", true, "Choose other values and call again."},
		{tool.Denied, "denied", false, "Do not call it again. Go on without it, or say what you need."},
		{tool.Rejected, "rejected", false, "A person said no. Do not call it again unless you are asked to."},
		{tool.Expired, "expired", true, "Nobody answered in time. Call again only if it is still needed."},
		{tool.NeedsUser, "needs_user", false, "Nobody is there to talk to. Go on without it."},
		{tool.HookBlocked, "hook_blocked", false, "A rule of this program stopped it. Go on without it."},
		{tool.Failed, "failed", true, "Read the error. Change what caused it, or go another way."},
		{tool.Timeout, "timeout", true, "Ask for less at once."},
		{tool.Aborted, "aborted", true, "It was stopped. Call again only if it is still needed."},
		{tool.InvalidOutput, "invalid_output", false, "The tool returned what it must not. Use another one."},
		{tool.UnsafeContent, "unsafe_content", false, "What it returned was withheld. Use another source."},
		{tool.FlowBlocked, "flow_blocked", false, "This data may not go there. Do not try another way round."},
		{tool.Sandbox, "sandbox", false, "It cannot be run safely here. Go on without it."},
		{tool.RateLimited, "rate_limited", true, "Wait, then call again."},
		{tool.OutcomeUnknown, "outcome_unknown", false, "It may or may not have happened. Find out before anything else."},
		{tool.Loop, "loop", false, "Change the input or stop."},
		{tool.Pending, "pending", true, "Waiting for a person. Call again with the same input."},
		{tool.Suspended, "suspended", false, ""}, // goes to no model
	}
	for _, tt := range tests {
		t.Run("L4 "+tt.word, func(t *testing.T) {
			if !tt.kind.Known() || string(tt.kind) != tt.word {
				t.Errorf("kind %q, known %v, want %q", tt.kind, tt.kind.Known(), tt.word)
			}
			if tt.kind.Again() != tt.again || tt.kind.Hint() != tt.hint {
				t.Errorf("again %v, hint %q, want %v, %q", tt.kind.Again(), tt.kind.Hint(), tt.again, tt.hint)
			}
		})
	}
	t.Run("L4 there are 21", func(t *testing.T) {
		words := kindWords()
		if len(words) != 21 || len(tests) != 21 {
			t.Fatalf("the specification has %d, the table %d, want 21", len(words), len(tests))
		}
		for i, word := range words {
			if tests[i].word != word {
				t.Errorf("number %d is %s, want %s", i+1, tests[i].word, word)
			}
		}
	})
	for _, kind := range []tool.Kind{"", "Failed", "failed ", "ok", "error"} {
		t.Run(fmt.Sprintf("L4 %q is none of them", string(kind)), func(t *testing.T) {
			if kind.Known() || kind.Again() || kind.Hint() != "" {
				t.Errorf("known %v, again %v, hint %q", kind.Known(), kind.Again(), kind.Hint())
			}
		})
	}
}

func TestErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  tool.Error
		want string // the operator's text
	}{
		{"L5 detail is for the operator", tool.Error{Kind: tool.Failed, Text: "It failed.", Detail: "dial 10.0.0.1: refused", Cause: errBroken}, "failed: dial 10.0.0.1: refused"},
		{"L5 without detail the operator reads the model's text", tool.Error{Kind: tool.Denied, Text: "Not allowed.", Cause: errBroken}, "denied: Not allowed."},
		{"L5 without any text the operator reads the cause", tool.Error{Kind: tool.Timeout, Cause: context.DeadlineExceeded}, "timeout: context deadline exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("Error() = %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("L4 the cause is kept", func(t *testing.T) {
		res := tool.Result{Err: &tool.Error{Kind: tool.Failed, Cause: fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)}}
		if !errors.Is(res.Err, io.ErrUnexpectedEOF) {
			t.Error("errors.Is does not find the cause")
		}
		var e *tool.Error
		if !errors.As(fmt.Errorf("call 3: %w", res.Err), &e) || e != res.Err {
			t.Error("errors.As does not find the error")
		}
	})
}

func TestAsError(t *testing.T) {
	own := &tool.Error{Kind: tool.RateLimited, Text: "Too many.", Detail: "429 from 10.0.0.1", RetryAfter: time.Minute}
	t.Run("L7 a tool's own error is failed, and its text goes to the model", func(t *testing.T) {
		e := tool.AsError(fmt.Errorf("reading: %w", io.EOF))
		if e.Kind != tool.Failed || e.Text != "reading: EOF" || !errors.Is(e, io.EOF) {
			t.Errorf("AsError = %+v", e)
		}
	})
	t.Run("L7 an error with two texts is taken as it is", func(t *testing.T) {
		if e := tool.AsError(own); *e != *own || e == own {
			t.Errorf("AsError = %#v, want a copy of %#v", e, own)
		}
		wrapped := fmt.Errorf("while fetching: %w", own)
		e := tool.AsError(wrapped)
		if want := (tool.Error{Kind: own.Kind, Text: own.Text, Detail: own.Detail, RetryAfter: own.RetryAfter, Cause: wrapped}); *e != want {
			t.Errorf("AsError = %#v, want %#v", e, want)
		}
	})
	t.Run("L4 an error with two texts keeps its own cause", func(t *testing.T) {
		e := tool.AsError(&tool.Error{Kind: tool.Failed, Text: "No.", Cause: io.EOF})
		if !errors.Is(e, io.EOF) || e.Text != "No." {
			t.Errorf("AsError = %#v", e)
		}
	})
	for name, o := range map[string]*tool.Outcome{
		"L7 fatal":          {Err: io.EOF, Fatal: true},
		"L7 stop siblings":  {Err: io.EOF, StopSiblings: true},
		"L7 retry after":    {Err: io.EOF, RetryAfter: time.Second},
		"L7 a plain one":    {Err: io.EOF},
		"L7 all but a wait": {Err: io.EOF, Fatal: true, StopSiblings: true, RetryAfter: time.Second},
	} {
		t.Run(name+" is failed, and the outcome stays the cause", func(t *testing.T) {
			for _, err := range []error{o, fmt.Errorf("tool: %w", o)} {
				e := tool.AsError(err)
				if e.Kind != tool.Failed || e.Text != err.Error() || e.RetryAfter != o.RetryAfter {
					t.Errorf("AsError = %#v", e)
				}
				var back *tool.Outcome
				if !errors.As(e, &back) || back != o || !errors.Is(e, io.EOF) {
					t.Errorf("the outcome is lost: %#v, found %#v", e, back)
				}
			}
		})
	}
	t.Run("L7 suspend is suspended, with the question", func(t *testing.T) {
		o := &tool.Outcome{Suspend: "Which account?", Err: &tool.Error{Kind: tool.RateLimited, Text: "Busy."}}
		e := tool.AsError(o)
		if e.Kind != tool.Suspended || e.Text != "Which account?" {
			t.Errorf("AsError = %#v", e)
		}
		if back := (*tool.Outcome)(nil); !errors.As(e, &back) || back != o {
			t.Errorf("the outcome is lost: %#v", e)
		}
	})
	t.Run("L7 an outcome without a wish does not take away the error's", func(t *testing.T) {
		for _, none := range []time.Duration{0, -time.Second} {
			if e := tool.AsError(&tool.Outcome{Err: own, RetryAfter: none}); e.RetryAfter != time.Minute {
				t.Errorf("after an outcome of %s the call may be tried again after %s, want 1m0s", none, e.RetryAfter)
			}
		}
		if e := tool.AsError(&tool.Outcome{RetryAfter: -time.Second}); e.RetryAfter != 0 || e.Text != "failed" {
			t.Errorf("AsError = %#v, want no wish", e)
		}
	})
	t.Run("L7 an outcome around an error with two texts keeps both", func(t *testing.T) {
		o := &tool.Outcome{Err: &tool.Error{Kind: tool.Failed, Text: "Busy.", Detail: "10.0.0.1 is busy"}, RetryAfter: time.Second}
		if e := tool.AsError(o); e.Text != "Busy." || e.Detail != "10.0.0.1 is busy" || e.RetryAfter != time.Second {
			t.Errorf("AsError = %+v, want the texts of the error and the wish of the outcome", e)
		}
	})
	t.Run("L7 nothing wrong stays nothing wrong", func(t *testing.T) {
		if e := tool.AsError(nil); e != nil {
			t.Errorf("AsError(nil) = %#v", e)
		}
	})
	for name, err := range map[string]error{
		"L6 a nil error":             (*tool.Error)(nil),
		"L6 a nil outcome":           (*tool.Outcome)(nil),
		"L6 an error that panics":    panics{},
		"L6 an outcome of one":       &tool.Outcome{Err: panics{}},
		"L6 a nil error of its kind": (*unknown)(nil),
	} {
		t.Run(name+" is failed", func(t *testing.T) {
			e := tool.AsError(err)
			if e == nil || e.Kind != tool.Failed || e.Text != "failed" || e.Cause != err { //nolint:errorlint // it is the same one
				t.Fatalf("AsError = %#v", e)
			}
			if errors.Is(e, io.EOF) {
				t.Error("it is said to be another error")
			}
		})
	}
	t.Run("L6 the methods of a nil error and of a nil outcome", func(t *testing.T) {
		for want, err := range map[string]error{"<nil>": (*tool.Error)(nil), "failed": (*tool.Outcome)(nil)} {
			if err.Error() != want || errors.Unwrap(err) != nil {
				t.Errorf("%T: %q, around %v, want %q", err, err.Error(), errors.Unwrap(err), want)
			}
		}
	})
	t.Run("L5 what the model reads is text", func(t *testing.T) {
		for _, err := range []error{errors.New("caf\xe9"), &tool.Error{Kind: tool.Failed, Text: "caf\xe9"}, &tool.Outcome{Suspend: "caf\xe9"}} {
			if e := tool.AsError(err); e.Text != "caf\uFFFD" {
				t.Errorf("AsError(%T).Text = %q", err, e.Text)
			}
		}
	})
	// own are the kinds that a tool may give itself.
	ownKinds := strings.Fields("invalid_value failed timeout invalid_output sandbox rate_limited")
	words := append(kindWords(), "", "made_up", "Timeout")
	for _, word := range words {
		want := "failed"
		if slices.Contains(ownKinds, word) {
			want = word
		}
		t.Run(fmt.Sprintf("L4 of a tool %q is %s", word, want), func(t *testing.T) {
			for _, err := range []error{
				&tool.Error{Kind: tool.Kind(word), Text: "No."},
				fmt.Errorf("tool: %w", &tool.Error{Kind: tool.Kind(word), Text: "No."}),
				&tool.Outcome{Err: &tool.Error{Kind: tool.Kind(word), Text: "No."}, Fatal: true},
			} {
				if e := tool.AsError(err); string(e.Kind) != want || e.Text != "No." {
					t.Errorf("AsError(%#v) = %#v", err, e)
				}
			}
		})
	}
}

// panics is an error whose text cannot be had.
type panics struct{}

func (panics) Error() string { panic("broken") }

// unknown has a text only where there is one of it.
type unknown struct{ text string }

func (u *unknown) Error() string { return u.text }

func TestErrorJSON(t *testing.T) {
	t.Run("U1 an error is recorded without its cause", func(t *testing.T) {
		e := tool.Error{Kind: tool.RateLimited, Text: "Busy.", Detail: "429", Cause: errBroken, RetryAfter: 1500 * time.Millisecond}
		text := must(json.Marshal(e))(t)
		if want := `{"kind":"rate_limited","text":"Busy.","detail":"429","retry_after":1500000000}`; string(text) != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		var back tool.Error
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if e.Cause = nil; back != e {
			t.Errorf("got  %#v\nwant %#v", back, e)
		}
	})
	t.Run("U1 an error that says little is short", func(t *testing.T) {
		if text := must(json.Marshal(&tool.Error{Kind: tool.Denied}))(t); string(text) != `{"kind":"denied"}` {
			t.Errorf("got %s", text)
		}
	})
}

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    tool.Outcome
		want string
	}{
		{"L7 an outcome that says nothing reads", tool.Outcome{}, "failed"},
		{"L7 an outcome with its error reads as that", tool.Outcome{Err: io.EOF, Suspend: "Which account?", RetryAfter: time.Second}, "EOF"},
		{"L7 an outcome that suspends reads as its question", tool.Outcome{Suspend: "Which account?", RetryAfter: time.Second}, "suspended: Which account?"},
		{"L7 an outcome that wants to retry says when", tool.Outcome{RetryAfter: 90 * time.Second}, "retry after 1m30s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error = &tt.o
			if err.Error() != tt.want {
				t.Errorf("Error() = %q, want %q", err, tt.want)
			}
			if errors.Is(err, io.EOF) != (tt.o.Err != nil) {
				t.Errorf("errors.Is and the error inside disagree")
			}
		})
	}
}
