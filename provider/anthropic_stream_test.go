package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// sse is the events of an answer, each named by its type.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var kind struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal([]byte(e), &kind)
		b.Write(writeEvent(nil, kind.Type, []byte(e)))
	}
	return b.String()
}

// shown is an answer in a line.
func shown(a Answer) string {
	var parts []string
	for _, p := range a.Parts {
		s := string(p.Kind)
		switch {
		case p.Call != nil:
			s += fmt.Sprintf(" %s %s %s", p.Call.ID, p.Call.Name, p.Call.Input)
		case p.Text != "":
			s += " " + p.Text
		}
		if p.Own != nil {
			s += " " + p.Of + ":" + string(p.Own)
		}
		parts = append(parts, s)
	}
	return strings.Join(append(parts, "stop "+string(a.Stop)), " | ")
}

const (
	begin   = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":2,"cache_read_input_tokens":5,"output_tokens":1}}}`
	endTurn = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}`
	endCall = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`
	endMax  = `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}`
	over    = `{"type":"message_stop"}`
)

func started(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}

func added(i int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta)
}

func input(i int, text string) string {
	return added(i, `{"type":"input_json_delta","partial_json":`+string(quoted(text))+`}`)
}

func stopped(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

func callBlock(id string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"add","input":{}}`
}

func TestAnthropicStream(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		events []string
		told   string // lines
		want   string
		err    error
	}{
		{
			"text",
			[]string{begin, started(0, `{"type":"text","text":""}`), `{"type":"ping"}`, added(0, `{"type":"text_delta","text":"Hel"}`), added(0, `{"type":"text_delta","text":"lo"}`), stopped(0), endTurn, over},
			"text Hel\ntext lo", "text Hello | stop end", nil,
		},
		{
			"a call is told when its block ends, before the answer does",
			[]string{begin, started(0, callBlock("a")), input(0, ""), input(0, `{"x":`), input(0, `1}`), stopped(0), started(1, `{"type":"text","text":""}`), added(1, `{"type":"text_delta","text":"!"}`), stopped(1), endCall, over},
			"begun a add\ncall a add {\"x\":1}\ntext !", `call a add {"x":1} | text ! | stop calls`, nil,
		},
		{
			"interleaved blocks",
			[]string{begin, started(0, callBlock("a")), started(1, callBlock("b")), input(1, `{"x":`), input(0, `{"y":`), input(1, `1}`), stopped(1), input(0, `2}`), stopped(0), endCall, over},
			"begun a add\nbegun b add\ncall b add {\"x\":1}\ncall a add {\"y\":2}", `call a add {"y":2} | call b add {"x":1} | stop calls`, nil,
		},
		{
			"no input is an empty object",
			[]string{begin, started(0, callBlock("a")), input(0, ""), stopped(0), endCall, over},
			"begun a add\ncall a add {}", "call a add {} | stop calls", nil,
		},
		{
			"the input may stand in the beginning",
			[]string{begin, started(0, `{"type":"tool_use","id":"a","name":"add","input":{"x":1},"caller":{"type":"code","tool_id":"s"}}`), stopped(0), endCall, over},
			"begun a add\ncall a add {\"x\":1}", `call a add {"x":1} anthropic:{"type":"tool_use","id":"a","name":"add","input":{"x":1},"caller":{"type":"code","tool_id":"s"}} | stop calls`, nil,
		},
		{
			"missing and repeated ids",
			[]string{begin, started(0, callBlock("")), input(0, "{}"), stopped(0), started(1, callBlock("")), input(1, "{}"), stopped(1), endCall, over},
			"begun  add\ncall  add {}\nbegun  add\ncall  add {}", "call  add {} | call  add {} | stop calls", nil,
		},
		{
			"input that is no JSON",
			[]string{begin, started(0, callBlock("a")), input(0, `{"x":}`), stopped(0), endCall, over},
			"begun a add\ncall a add {\"x\":}", `call a add {"x":} | stop calls`, nil,
		},
		{
			"a call cut off by the limit",
			[]string{begin, started(0, callBlock("a")), input(0, `{"x":1}`), stopped(0), started(1, callBlock("b")), input(1, `{"x":`), stopped(1), endMax, over},
			"begun a add\ncall a add {\"x\":1}\nbegun b add", `call a add {"x":1} | stop length`, nil,
		},
		{
			"a call cut off by the limit before its input",
			[]string{begin, started(0, callBlock("a")), stopped(0), endMax, over},
			"begun a add", "stop length", nil,
		},
		{
			"a call without input, then the limit",
			[]string{begin, started(0, callBlock("a")), stopped(0), started(1, `{"type":"text","text":"x"}`), stopped(1), endMax, over},
			"begun a add\ncall a add {}\ntext x", "call a add {} | text x | stop length", nil,
		},
		{
			"blocks without their end",
			[]string{begin, started(0, `{"type":"text","text":""}`), added(0, `{"type":"text_delta","text":"x"}`), started(1, callBlock("a")), input(1, `{}`), endCall, over},
			"text x\nbegun a add\ncall a add {}", "text x | call a add {} | stop calls", nil,
		},
		{
			"a call without its end, and the limit",
			[]string{begin, started(0, callBlock("a")), input(0, `{"x"`), endMax, over},
			"begun a add", "stop length", nil,
		},
		{
			"a signed thought",
			[]string{begin, started(0, `{"type":"thinking","thinking":"","signature":""}`), added(0, `{"type":"thinking_delta","thinking":"<hm>"}`), added(0, `{"type":"signature_delta","signature":"s+/="}`), stopped(0), endTurn, over},
			"thought <hm>", `thought <hm> anthropic:{"type":"thinking","thinking":"<hm>","signature":"s+/="} | stop end`, nil,
		},
		{
			"what only the provider knows is kept",
			[]string{begin, started(0, `{"type":"redacted_thinking","data":"xx"}`), stopped(0), started(1, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), input(1, `{"q":`), input(1, `1}`), stopped(1), started(2, `{"type":"web_search_tool_result","tool_use_id":"s","content":[{"a":"<b>"}]}`), stopped(2), started(3, `{"type":"brand_new","text":7}`), stopped(3), endTurn, over},
			"", `own anthropic:{"type":"redacted_thinking","data":"xx"} | own anthropic:{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":1}} | own anthropic:{"type":"web_search_tool_result","tool_use_id":"s","content":[{"a":"<b>"}]} | own anthropic:{"type":"brand_new","text":7} | stop end`, nil,
		},
		{
			"citations",
			[]string{begin, started(0, `{"type":"text","text":"","citations":[]}`), added(0, `{"type":"citations_delta","citation":{"url":"u"}}`), added(0, `{"type":"text_delta","text":"so"}`), stopped(0), endTurn, over},
			"text so", `text so anthropic:{"type":"text","text":"so","citations":[{"url":"u"}]} | stop end`, nil,
		},
		{
			"a refusal",
			[]string{begin, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}},"usage":{"output_tokens":9}}`, over},
			"refusal no", "refusal no | stop refusal", nil,
		},
		{
			"unknown events and deltas",
			[]string{begin, `{"type":"new","delta":"x","index":"y"}`, started(0, `{"type":"text","text":""}`), added(0, `{"type":"new_delta","x":1}`), added(7, `{"type":"text_delta","text":"lost"}`), stopped(9), added(0, `{"type":"text_delta","text":"x"}`), stopped(0), endTurn, over},
			"text x", "text x | stop end", nil,
		},
		{
			"a message that begins again takes the place of the first",
			[]string{begin, started(0, `{"type":"text","text":"one"}`), stopped(0), started(1, callBlock("a")), input(1, `{"x":`), begin, started(0, `{"type":"text","text":"two"}`), stopped(0), endTurn, over},
			"text one\nbegun a add\ntext two", "text two | stop end", nil,
		},
		{
			"what follows the end does not count",
			[]string{begin, endTurn, over, begin, started(0, callBlock("a")), stopped(0), endCall, over},
			"", "stop end", nil,
		},
		{
			"no end",
			[]string{begin, started(0, `{"type":"thinking","thinking":""}`), added(0, `{"type":"thinking_delta","thinking":"hm"}`), started(1, `{"type":"text","text":"x"}`), started(2, `{"type":"server_tool_use","id":"s"}`), started(3, callBlock("a")), input(3, "{}")},
			"thought hm\ntext x\nbegun a add", "thought hm | text x | stop ", io.ErrUnexpectedEOF,
		},
		{
			"no end but a reason",
			[]string{begin, started(0, callBlock("a")), input(0, "{}"), stopped(0), endCall},
			"begun a add\ncall a add {}", "call a add {} | stop ", io.ErrUnexpectedEOF,
		},
		{"nothing", nil, "", "stop ", io.ErrUnexpectedEOF},
	} {
		t.Run("A2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			told, a, err := heard(Anthropic{}, sse(tt.events...))
			if got := strings.Join(told, "\n"); got != tt.told {
				t.Errorf("told\n%s\nwant\n%s", got, tt.told)
			}
			if got := shown(a); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got\n%s, %v\nwant\n%s, %v", got, err, tt.want, tt.err)
			}
			if want := (Usage{Input: 10, CacheWrite: 2, CacheRead: 5, Output: 9}); err == nil && a.Usage != want {
				t.Errorf("usage %+v, want %+v", a.Usage, want)
			}
		})
	}
}

func TestAnthropicStreamErrors(t *testing.T) {
	t.Parallel()
	t.Run("A2 an error of the provider, and what was whole", func(t *testing.T) {
		t.Parallel()
		text := sse(begin, started(0, `{"type":"text","text":"x"}`), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
		a, err := Anthropic{}.Stream(strings.NewReader(text), nil)
		var e *Error
		if !errors.As(err, &e) || !reflect.DeepEqual(e, &Error{Code: "overloaded_error", Text: "Overloaded", Again: true}) || a.Text() != "x" {
			t.Errorf("got %+v, %v, want the text and an error to try again", a, err)
		}
	})
	t.Run("A2 an error in place of the stream", func(t *testing.T) {
		t.Parallel()
		_, err := Anthropic{}.Stream(strings.NewReader(" \n{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}"), nil)
		var e *Error
		if !errors.As(err, &e) || e.Code != "invalid_request_error" || e.Again {
			t.Errorf("got %v, want an invalid_request_error", err)
		}
	})
	t.Run("A2 an answer in place of the stream", func(t *testing.T) {
		t.Parallel()
		told, a, err := heard(Anthropic{}, `{"type":"message","id":"m","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"add","input":{}}],"stop_reason":"tool_use"}`)
		if got := strings.Join(told, ", "); got != "text x, begun a add, call a add {}" || len(a.Parts) != 2 || err != nil {
			t.Errorf("got %q, %+v, %v", got, a, err)
		}
	})
	t.Run("A2 an answer in place of the stream, cut off in a call", func(t *testing.T) {
		t.Parallel()
		told, a, err := heard(Anthropic{}, `{"type":"message","content":[{"type":"tool_use","id":"a","name":"add","input":{}},{"type":"tool_use","id":"b","name":"add","input":{}}],"stop_reason":"max_tokens"}`)
		if got := strings.Join(told, ", "); got != "begun a add, call a add {}" || len(a.Parts) != 1 || a.Stop != StopLength || err != nil {
			t.Errorf("got %q, %+v, %v, want the first call", got, a, err)
		}
	})
	for name, event := range map[string]string{
		"no JSON":      `{"type":`,
		"another type": `{"type":"content_block_start","index":"x"}`,
		"no block":     `{"type":"content_block_start","index":0}`,
		"a bad block":  `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":7}}`,
	} {
		t.Run("A2 an event is malformed: "+name, func(t *testing.T) {
			t.Parallel()
			text := sse(begin, started(0, `{"type":"text","text":"x"}`), stopped(0)) + "event: content_block_start\ndata: " + event + "\n\n"
			a, err := Anthropic{}.Stream(strings.NewReader(text), nil)
			if err == nil || !strings.Contains(err.Error(), `"content_block_start"`) || a.Text() != "x" {
				t.Errorf("got %+v, %v, want the text and an error that names the event", a, err)
			}
		})
	}
	t.Run("A2 the body's own error", func(t *testing.T) {
		t.Parallel()
		broken := errors.New("broken")
		a, err := Anthropic{}.Stream(io.MultiReader(strings.NewReader(sse(begin, started(0, `{"type":"text","text":"x"}`))), iotest.ErrReader(broken)), nil)
		if !errors.Is(err, broken) || a.Text() != "x" || a.ID != "m" {
			t.Errorf("got %+v, %v, want the text and %v", a, err, broken)
		}
	})
}
