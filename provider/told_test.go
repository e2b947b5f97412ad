package provider

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// kept is a conversation that somebody keeps while an answer comes, from what is told.
type kept struct {
	parts []Part
	open  bool // the last part is text that may go on
}

func (k *kept) add(d Delta) {
	switch d.Kind {
	case DeltaBegun:
	case DeltaText, DeltaThought, DeltaRefusal:
		kind := map[DeltaKind]PartKind{DeltaText: PartText, DeltaThought: PartThought, DeltaRefusal: PartRefusal}[d.Kind]
		if n := len(k.parts); k.open && k.parts[n-1].Kind == kind {
			k.parts[n-1].Text += d.Text
			return
		}
		k.parts, k.open = append(k.parts, Part{Kind: kind, Text: d.Text}), true
	case DeltaCall:
		p := Part{Kind: PartCall, Call: &d.Call}
		if d.Part != nil {
			p = *d.Part
		}
		k.parts, k.open = append(k.parts, p), false
	case DeltaPart:
		if n := len(k.parts) - 1; k.open && k.parts[n].Kind == d.Part.Kind { // its text is the end of what was told
			rest, ok := strings.CutSuffix(k.parts[n].Text, d.Part.Text)
			if k.parts[n].Text = rest; ok && rest == "" {
				k.parts = k.parts[:n]
			}
		}
		k.parts, k.open = append(k.parts, *d.Part), false
	}
}

// inOne are parts with texts joined that follow each other.
func inOne(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if n := len(out) - 1; n >= 0 && p.Own == nil && p.Call == nil && out[n].Kind == p.Kind && out[n].Own == nil {
			out[n].Text += p.Text
			continue
		}
		out = append(out, p)
	}
	return out
}

// owned are the calls, and the parts that have a form of the provider's own.
func owned(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if p.Own != nil || p.Kind == PartCall {
			out = append(out, p)
		}
	}
	return out
}

func TestToldLaw(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		t.Run("A2 what is told is what the answer has: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := someAnswer(t, f)
				stream, err := f.WriteStream(want)
				if err != nil {
					t.Fatal(err)
				}
				body, err := f.WriteAnswer(want)
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range [][]byte{stream, body} {
					var k kept
					a, err := f.Stream(bytes.NewReader(text), k.add)
					if err != nil {
						t.Fatal(err)
					}
					if got, want := owned(k.parts), owned(a.Parts); !reflect.DeepEqual(got, want) {
						t.Fatalf("told\n%s\nof\n%s", jsonOf(got), jsonOf(want))
					}
					if f == (Chat{}) { // its thought is whole only when a call is
						continue
					}
					if got, want := inOne(k.parts), inOne(a.Parts); !reflect.DeepEqual(got, want) {
						t.Fatalf("told\n%s\nof\n%s", jsonOf(got), jsonOf(want))
					}
				}
			})
		})
		t.Run("A2 a call is told behind all that it needs: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := someAnswer(t, f)
				stream, err := f.WriteStream(want)
				if err != nil {
					t.Fatal(err)
				}
				var k kept
				_, _ = f.Stream(bytes.NewReader(stream[:rapid.IntRange(0, len(stream)).Draw(t, "cut")]), k.add)
				got, all := owned(k.parts), owned(want.Parts)
				if len(got) > len(all) || len(got) > 0 && !reflect.DeepEqual(got, all[:len(got)]) {
					t.Fatalf("told\n%s\nwant the beginning of\n%s", jsonOf(got), jsonOf(all))
				}
			})
		})
	}
}

func TestToldOwn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		format Format
		stream string
		want   string
	}{
		{
			"a thought is told before the call behind it",
			Anthropic{},
			sse(begin, started(0, `{"type":"thinking","thinking":""}`), added(0, `{"type":"thinking_delta","thinking":"hm"}`), added(0, `{"type":"signature_delta","signature":"s"}`), stopped(0),
				started(1, `{"type":"redacted_thinking","data":"d"}`), stopped(1), started(2, callBlock("a")), input(2, `{"x":1}`), stopped(2)),
			`[{"kind":"thought","text":"hm","own":{"type":"thinking","thinking":"hm","signature":"s"},"of":"anthropic"},{"kind":"own","own":{"type":"redacted_thinking","data":"d"},"of":"anthropic"},call]`,
		},
		{
			"a call is told with its signature",
			Gemini{},
			sse(pieceOf(`{"functionCall":{"name":"add","willContinue":true},"thoughtSignature":"s"},{"functionCall":{}}`, "")),
			`[{"kind":"call","call":{"name":"add","input":{}},"own":{"functionCall":{"name":"add","args":{}},"thoughtSignature":"s"},"of":"gemini"}]`,
		},
		{
			"a thought and the id of the call behind it",
			Responses{},
			itemEvents(`output_item.done "output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}`, `output_item.added "output_index":1,`+callItem("1", "f", "", ""),
				`function_call_arguments.done "output_index":1,"item_id":"fc_1","arguments":"{}"`, `output_item.done "output_index":1,`+callItem("1", "f", "{}", "completed")),
			`[{"kind":"thought","own":{"type":"reasoning","id":"rs","summary":[]},"of":"openai-responses"},{"kind":"call","call":{"id":"1","name":"f","input":{}},"own":` + strings.TrimPrefix(callItem("1", "f", "{}", "completed"), `"item":`) + `,"of":"openai-responses"}]`,
		},
		{
			"a thought before the first call",
			Chat{},
			"data: " + `{"choices":[{"delta":{"reasoning_content":"hm"}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":"{\"x\":1}"},"extra_content":{"s":1}},{"index":1,"id":"b","function":{"name":"sub"}}]}}]}` + "\n\n",
			`[{"kind":"thought","text":"hm","own":{"reasoning_content":"hm"},"of":"openai-chat"},{"kind":"call","call":{"id":"a","name":"add","input":{"x":1}},"own":{"id":"a","type":"function","function":{"name":"add","arguments":"{\"x\":1}"},"extra_content":{"s":1}},"of":"openai-chat"}]`,
		},
	} {
		t.Run("A2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			var k kept
			if _, err := tt.format.Stream(strings.NewReader(tt.stream), k.add); err == nil {
				t.Error("got no error, want one: the stream breaks off")
			}
			got, err := json.Marshal(owned(k.parts))
			want := strings.Replace(tt.want, "call]", jsonOf(call("a", "add", `{"x":1}`))+"]", 1)
			if err != nil || string(got) != want {
				t.Errorf("told\n%s, %v\nwant\n%s", got, err, want)
			}
		})
	}
}

// refused is what a provider has against a request, as far as parts depend on others.
func refused(body []byte) string {
	var r struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type, ID string
				For      string `json:"tool_use_id"`
			}
		}
		Input []struct{ Type, Role, ID string }
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err.Error()
	}
	for _, m := range r.Messages {
		open := map[string]bool{}
		for _, b := range m.Content {
			open[b.ID] = b.Type == "server_tool_use"
			delete(open, b.For)
		}
		for id, waits := range open {
			if waits {
				return id + " has no result"
			}
		}
		if n := len(m.Content); n == 0 || m.Role == "assistant" && m.Content[n-1].Type == "thinking" {
			return "a message is empty or ends with a thought"
		}
	}
	for i, it := range r.Input {
		if it.Type == "reasoning" && (i+1 == len(r.Input) || r.Input[i+1].ID == "") {
			return it.ID + " has no item behind it"
		}
	}
	return ""
}

func TestCutOffLaw(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{Anthropic{}, Responses{}} {
		t.Run("A2 wherever an answer is cut off, the conversation goes on: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				stream, err := f.WriteStream(someAnswer(t, f))
				if err != nil {
					t.Fatal(err)
				}
				a, _ := f.Stream(bytes.NewReader(stream[:rapid.IntRange(0, len(stream)).Draw(t, "cut")]), nil)
				body, err := f.WriteRequest(Request{Messages: []Message{said(User, Text("x")), said(Assistant, a.Parts...), said(User, Text("y"))}})
				if err != nil {
					t.Fatal(err)
				}
				if why := refused(body); why != "" {
					t.Fatalf("%s in\n%s", why, body)
				}
			})
		})
	}
}

func TestResponsesCutOff(t *testing.T) {
	t.Parallel()
	stream := itemEvents(`output_item.done "output_index":0,"item":{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}`,
		`output_item.added "output_index":1,"item":{"type":"message","id":"m","content":[]}`, `output_text.delta "output_index":1,"item_id":"m","delta":"hel"`)
	a, err := Responses{}.Stream(strings.NewReader(stream), nil)
	if err == nil {
		t.Fatal("got no error, want one: the stream breaks off")
	}
	got, err := Responses{}.WriteRequest(Request{Messages: []Message{said(Assistant, a.Parts...)}})
	if want := `{"model":"","input":[{"type":"message","role":"assistant","content":"hel"}]}`; err != nil || string(got) != want {
		t.Errorf("got\n%s, %v, want\n%s", got, err, want)
	}
}
