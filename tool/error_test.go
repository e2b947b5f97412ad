package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

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
		words := strings.Fields("unknown_tool not_loaded invalid_input invalid_value denied rejected expired needs_user hook_blocked failed timeout aborted " +
			"invalid_output unsafe_content flow_blocked sandbox rate_limited outcome_unknown loop pending suspended")
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
		for _, err := range []error{own, fmt.Errorf("while fetching: %w", own)} {
			if e := tool.AsError(err); *e != *own {
				t.Errorf("AsError(%v) = %+v, want %+v", err, e, own)
			}
		}
	})
	t.Run("L7 an outcome is failed and keeps what it wants", func(t *testing.T) {
		o := &tool.Outcome{Err: io.EOF, RetryAfter: time.Second, Fatal: true}
		e := tool.AsError(o)
		if e.Kind != tool.Failed || e.Text != "EOF" || e.RetryAfter != time.Second {
			t.Errorf("AsError = %+v", e)
		}
		var back *tool.Outcome
		if !errors.Is(e, io.EOF) || !errors.As(e, &back) || back != o {
			t.Errorf("the outcome is lost: %+v", e)
		}
	})
	t.Run("L7 an outcome around an error with two texts keeps both", func(t *testing.T) {
		o := &tool.Outcome{Err: &tool.Error{Kind: tool.Failed, Text: "Busy.", Detail: "10.0.0.1 is busy"}, RetryAfter: time.Second}
		if e := tool.AsError(o); e.Text != "Busy." || e.Detail != "10.0.0.1 is busy" || e.RetryAfter != time.Second {
			t.Errorf("AsError = %+v, want the texts of the error and the wish of the outcome", e)
		}
	})
	t.Run("L4 an error of no known kind is failed", func(t *testing.T) {
		for _, kind := range []tool.Kind{"", "made_up"} {
			if e := tool.AsError(&tool.Error{Kind: kind, Text: "No."}); e.Kind != tool.Failed || e.Text != "No." {
				t.Errorf("AsError of kind %q = %+v", kind, e)
			}
		}
	})
}

func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    tool.Outcome
		want string
	}{
		{"L7 plain", tool.Outcome{}, "failed"},
		{"L7 with its error", tool.Outcome{Err: io.EOF}, "EOF"},
		{"L7 fatal", tool.Outcome{Err: io.EOF, Fatal: true}, "EOF"},
		{"L7 stop siblings", tool.Outcome{StopSiblings: true}, "failed"},
		{"L7 suspend", tool.Outcome{Suspend: "Which account?"}, "suspended: Which account?"},
		{"L7 retry after", tool.Outcome{RetryAfter: 90 * time.Second}, "retry after 1m30s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error = &tt.o
			if err.Error() != tt.want {
				t.Errorf("Error() = %q, want %q", err, tt.want)
			}
			var back *tool.Outcome
			if !errors.As(fmt.Errorf("tool: %w", err), &back) || *back != tt.o {
				t.Errorf("errors.As finds %+v", back)
			}
			if errors.Is(err, io.EOF) != (tt.o.Err != nil) {
				t.Errorf("errors.Is and the error inside disagree")
			}
		})
	}
}
