package provider

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// itemEvents are events of Responses, each as its type, a blank and the members.
func itemEvents(lines ...string) string {
	var out []byte
	for _, line := range lines {
		kind, members, _ := strings.Cut(line, " ")
		if members != "" {
			members = "," + members
		}
		out = writeEvent(out, "response."+kind, []byte(`{"type":"response.`+kind+`"`+members+`}`))
	}
	return string(out)
}

// callItem is a call as an item.
func callItem(id, name, arguments, status string) string {
	return fmt.Sprintf(`"item":{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%q,"status":%q}`, id, id, name, arguments, status)
}

func TestResponsesStream(t *testing.T) {
	t.Parallel()
	const whole = `completed "response":{"id":"r","model":"m","status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":2}}}`
	cut := func(reason string) string {
		return `incomplete "response":{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"}}`
	}
	streamsOf(t, Responses{}, []streamCase{
		{
			"text", itemEvents(`created "response":{"id":"r"}`, `output_item.added "output_index":0,"item":{"type":"message","id":"a","content":[]}`,
				`output_text.delta "item_id":"a","output_index":0,"content_index":0,"delta":"he"`, `output_text.delta "item_id":"a","output_index":0,"delta":"llo"`,
				`output_item.done "output_index":0,"item":{"type":"message","id":"a","content":[{"type":"output_text","text":"hello"}]}`, whole),
			"text he | text llo", StopEnd,
		},
		{
			"text that comes only at the end", itemEvents(`output_item.done "output_index":0,"item":{"type":"message","id":"a","content":[{"type":"output_text","text":"hello"}]}`, whole),
			"text hello", StopEnd,
		},
		{
			"a refusal", itemEvents(`output_item.added "output_index":0,"item":{"type":"message","id":"a","content":[]}`, `refusal.delta "item_id":"a","output_index":0,"delta":"no"`,
				`output_item.done "output_index":0,"item":{"type":"message","id":"a","content":[{"type":"refusal","refusal":"no"}]}`, whole),
			"refusal no", StopRefusal,
		},
		{
			"parts of a thought stand apart", itemEvents(`output_item.added "output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}`, `reasoning_summary_text.delta "item_id":"rs","output_index":0,"summary_index":0,"delta":"a"`,
				`reasoning_summary_text.delta "item_id":"rs","output_index":0,"summary_index":1,"delta":"b"`,
				`output_item.done "output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]}`, whole),
			"thought a | thought \n\nb | part ", StopEnd,
		},
		{
			"a call is told once, when its arguments are there", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", "in_progress"), `function_call_arguments.delta "item_id":"fc_1","output_index":0,"delta":"{"`,
				`function_call_arguments.done "item_id":"fc_1","output_index":0,"arguments":"{}"`, `output_text.delta "output_index":7,"delta":"lost"`, `output_item.done "output_index":0,`+callItem("1", "f", "{}", "completed"), whole),
			"begun 1 f | call 1 f {}", StopCalls,
		},
		{
			"interleaved", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `output_item.added "output_index":1,`+callItem("2", "g", "", ""),
				`function_call_arguments.delta "output_index":1,"item_id":"fc_2","delta":"{}"`, `function_call_arguments.done "output_index":1,"item_id":"fc_2","arguments":"{}"`,
				`function_call_arguments.delta "output_index":0,"item_id":"fc_1","delta":"{}"`, `function_call_arguments.done "output_index":0,"item_id":"fc_1","arguments":"{}"`, whole),
			"begun 2 g | begun 1 f | call 1 f {} | call 2 g {}", StopCalls,
		},
		{
			"every index is 0", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `output_item.added "output_index":0,`+callItem("2", "g", "", ""),
				`output_item.done "output_index":0,`+callItem("1", "f", "{}", "completed"), `output_item.done "output_index":0,`+callItem("2", "g", "[]", "completed"), whole),
			"begun 1 f | call 1 f {} | begun 2 g | call 2 g []", StopCalls,
		},
		{
			"ids that change", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `function_call_arguments.delta "output_index":0,"item_id":"other","delta":"{}"`,
				`output_item.done "output_index":0,"item":{"type":"function_call","id":"third","call_id":"1","name":"f","arguments":"{}","status":"completed"}`, whole),
			"begun 1 f | call 1 f {}", StopCalls,
		},
		{
			"arguments that are no JSON", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `function_call_arguments.done "output_index":0,"item_id":"fc_1","arguments":"{a"`,
				`output_item.done "output_index":0,`+callItem("1", "f", "{a", "completed"), whole),
			"begun 1 f | call 1 f {a", StopCalls,
		},
		{
			"cut short, half a call", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `function_call_arguments.delta "output_index":0,"item_id":"fc_1","delta":"{\"a\":1"`,
				`function_call_arguments.done "output_index":0,"item_id":"fc_1","arguments":"{\"a\":1"`, `output_item.done "output_index":0,`+callItem("1", "f", `{"a":1`, "incomplete"), cut("max_output_tokens")),
			"begun 1 f", StopLength,
		},
		{"cut short before the arguments", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `function_call_arguments.done "output_index":0,"item_id":"fc_1","arguments":""`, cut("max_output_tokens")), "", StopLength},
		{"a filter", itemEvents(cut("content_filter")), "", StopRefusal},
		{"another reason", itemEvents(cut("tired")), "", StopOther},
		{
			"what was not streamed", itemEvents(`created "response":{"id":"r"}`, `completed "response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}]}`),
			"text x | begun 1 f | call 1 f {}", StopCalls,
		},
		{"only deltas", itemEvents(`output_item.added "output_index":0,`+callItem("1", "f", "", ""), `function_call_arguments.delta "output_index":0,"item_id":"fc_1","delta":"{\"a\":1}"`, whole), `begun 1 f | call 1 f {"a":1}`, StopCalls},
		{"events and items that are not known", itemEvents(`queued`, `in_progress`, `news "delta":{"x":1},"output_index":"a"`, `output_item.done "output_index":0,"item":{"type":"news_call","summary":7}`, whole), "part ", StopEnd},
		{"plain JSON", `{"object":"response","status":"completed","output":[{"type":"function_call","call_id":"1","name":"f","arguments":""}]}`, "begun 1 f | call 1 f {}", StopCalls},
	})
}

func TestResponsesStreamFails(t *testing.T) {
	t.Parallel()
	begun := itemEvents(`output_item.added "output_index":0,"item":{"type":"message","id":"a","content":[]}`, `output_text.delta "output_index":0,"item_id":"a","delta":"hel"`, `output_item.done "output_index":0,"item":{"type":"message","id":"a","content":[{"type":"output_text","text":"hel"}]}`,
		`output_item.added "output_index":1,`+callItem("1", "f", "", ""), `function_call_arguments.done "output_index":1,"item_id":"fc_1","arguments":"{}"`, `output_item.done "output_index":1,`+callItem("1", "f", "{}", "completed"),
		`output_item.added "output_index":2,`+callItem("2", "g", "", ""), `function_call_arguments.delta "output_index":2,"item_id":"fc_2","delta":"{}"`)
	for _, tt := range []struct {
		name, end, code string
		again           bool
	}{
		{"A2 a stream that breaks off has what was complete", "", "", false},
		{"an error", "event: error\n" + `data: {"type":"error","code":"rate_limit_exceeded","message":"slow"}` + "\n\n", "rate_limit_exceeded", true},
		{"an error as an object", `data: {"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"pay"}}` + "\n\n", "insufficient_quota", false},
		{"an answer that failed", itemEvents(`failed "response":{"status":"failed","error":{"code":"server_error","message":"oh"}}`), "server_error", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := Responses{}.Stream(strings.NewReader(begun+tt.end), nil)
			var said *Error
			switch {
			case tt.code == "" && !errors.Is(err, io.ErrUnexpectedEOF):
				t.Errorf("got %v, want an unexpected end", err)
			case tt.code != "" && (!errors.As(err, &said) || said.Code != tt.code || said.Again != tt.again):
				t.Errorf("got %#v, want code %s, again %t", err, tt.code, tt.again)
			}
			if a.Text() != "hel" || len(a.Calls()) != 1 || a.Stop != "" {
				t.Errorf("got %+v, want the text and the first call", a)
			}
		})
	}
	for _, event := range []string{"event: news\ndata: {nonsense\n\n", itemEvents(`output_item.done "item":7`), itemEvents(`output_item.added "item":{"type":"function_call","status":1,"content":[],"summary":{}}`)} {
		if _, err := (Responses{}).Stream(strings.NewReader(event), nil); err == nil || !strings.Contains(err.Error(), "event") {
			t.Errorf("%.40q: got %v, want an error that names the event", event, err)
		}
	}
}

// A call behind a thought keeps the form that the provider knows it by.
func TestResponsesKeepsIDsBehindThoughts(t *testing.T) {
	t.Parallel()
	const thought = `{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}`
	const call = `{"type":"function_call","id":"fc","call_id":"1","name":"f","arguments":"{}"}`
	for _, tt := range []struct{ output, want string }{
		{thought + "," + call, thought + "," + call},
		{call, `{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}`},
		{call + "," + thought, `{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}`}, // nothing came of the thought
	} {
		a, err := Responses{}.ReadAnswer([]byte(`{"output":[` + tt.output + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Responses{}.WriteRequest(Request{Messages: []Message{{Role: Assistant, Parts: a.Parts}}})
		if want := `{"model":"","input":[` + tt.want + `]}`; err != nil || string(got) != want {
			t.Errorf("got\n%s, %v, want\n%s", got, err, want)
		}
	}
}
