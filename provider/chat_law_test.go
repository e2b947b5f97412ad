package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

// anyWords is text that is not empty.
func anyWords(t *rapid.T, name string) string {
	return rapid.StringN(0, 40, -1).Draw(t, name) + rapid.SampledFrom([]string{"x", "é", "\"", "\\", "<", "\u2028", "🙂", "\n", "data: "}).Draw(t, name+" end")
}

// anyCall is a call; its input may be no JSON, as models write it, in an answer that
// was not cut short.
func anyCall(t *rapid.T, id int, odd bool) Part {
	in := rapid.SampledFrom([]string{"{}", `{"a":1}`, `{"a":{"b":["}",{}]}}`, `[]`}).Draw(t, "input")
	if rapid.Bool().Draw(t, "text in the input") {
		in = `{"text":` + string(quoted(anyWords(t, "argument"))) + `}`
	}
	if odd && rapid.IntRange(0, 4).Draw(t, "odd") == 0 {
		in = rapid.SampledFrom([]string{`{"a":`, "7", "nonsense", `{}{}`}).Draw(t, "odd input")
	}
	return Part{Kind: PartCall, Call: &tool.Call{
		ID: "call_" + strconv.Itoa(id), Name: rapid.SampledFrom([]string{"add", "f", "get_time"}).Draw(t, "name"), Input: json.RawMessage(in),
	}}
}

// anySaid is what a model may say in the format, as it is read: Chat has one thought,
// one text, one refusal and then calls.
func anySaid(t *rapid.T, f Format, id int, odd bool) []Part {
	var parts []Part
	if f == (Chat{}) {
		if rapid.Bool().Draw(t, "thinks") {
			thought := anyWords(t, "thought")
			own := `{"reasoning_content":` + string(quoted(thought)) + `}`
			if rapid.Bool().Draw(t, "details") {
				own = `{"reasoning_details":[{"type":"reasoning.text","text":` + string(quoted(thought)) + `,"index":0,"signature":"s"},{"type":"reasoning.encrypted","data":"d","index":1}]}`
			}
			parts = append(parts, Part{Kind: PartThought, Text: thought, Own: json.RawMessage(own), Of: f.String()})
		}
		if rapid.Bool().Draw(t, "speaks") {
			parts = append(parts, Text(anyWords(t, "text")))
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "calls") {
			p := anyCall(t, id+i, odd)
			if rapid.IntRange(0, 3).Draw(t, "signed") == 0 {
				p.Own, p.Of = json.RawMessage(fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s},"extra_content":{"google":{"thought_signature":"s"}}}`,
					p.Call.ID, p.Call.Name, quoted(string(p.Call.Input)))), f.String()
			}
			parts = append(parts, p)
		}
		return parts
	}
	thought := false
	for i := range rapid.IntRange(0, 6).Draw(t, "parts") {
		n := id + i
		p := Part{}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			p = Text(anyWords(t, "text"))
			if thought {
				p.Own = json.RawMessage(fmt.Sprintf(`{"id":"msg_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}`, n, quoted(p.Text)))
			}
		case 1:
			thought = true
			p = Part{Kind: PartThought, Text: anyWords(t, "thought")}
			p.Own = json.RawMessage(fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[{"type":"summary_text","text":%s}],"encrypted_content":"e<"}`, n, quoted(p.Text)))
		case 2:
			p = Part{Kind: PartOwn, Own: json.RawMessage(fmt.Sprintf(`{"id":"ws_%d","type":"web_search_call", "action":{"query":%s}}`, n, quoted(anyWords(t, "query"))))}
		default:
			p = anyCall(t, n, odd)
			if thought {
				p.Own = json.RawMessage(fmt.Sprintf(`{"id":"fc_%d","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%s}`, n, p.Call.ID, p.Call.Name, quoted(string(p.Call.Input))))
			}
		}
		if p.Own != nil {
			p.Of = f.String()
		}
		parts = append(parts, p)
	}
	return parts
}

// anyAnswer is an answer as the format can hold it.
func anyAnswer(t *rapid.T, f Format) Answer {
	stop := rapid.SampledFrom([]Stop{StopEnd, StopEnd, StopLength, StopRefusal, StopOther}).Draw(t, "stop")
	a := Answer{ID: "id", Model: "m", Stop: stop, Parts: anySaid(t, f, 0, stop == StopEnd)}
	if stop == StopEnd && len(a.Calls()) > 0 {
		a.Stop = StopCalls
	}
	a.Usage = Usage{
		Input: 100, Output: rapid.IntRange(10, 99).Draw(t, "output"), CacheRead: rapid.IntRange(0, 9).Draw(t, "read"),
		CacheWrite: rapid.IntRange(0, 9).Draw(t, "written"), Thought: rapid.IntRange(0, 9).Draw(t, "thought"),
	}
	return a
}

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func TestOpenAIAnswerLaw(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{Chat{}, Responses{}} {
		t.Run("A2 an answer is read as it was written: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := anyAnswer(t, f)
				body, err := f.WriteAnswer(want)
				if err != nil || !json.Valid(body) {
					t.Fatalf("got %q, %v, want JSON", body, err)
				}
				if got, err := f.ReadAnswer(body); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("got\n%s, %v\nwant\n%s", jsonOf(got), err, jsonOf(want))
				}
				stream, err := f.WriteStream(want)
				if err != nil {
					t.Fatal(err)
				}
				var told []tool.Call
				text := map[DeltaKind]string{}
				got, err := f.Stream(&chunks{stream, rapid.IntRange(1, 200).Draw(t, "size")}, func(d Delta) {
					text[d.Kind] += d.Text
					if d.Kind == DeltaCall {
						told = append(told, d.Call)
					}
				})
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("got\n%s, %v\nwant\n%s", jsonOf(got), err, jsonOf(want))
				}
				if !reflect.DeepEqual(told, want.Calls()) || text[DeltaText] != want.Text() {
					t.Fatalf("told %s and %q, want %s and %q", jsonOf(told), text[DeltaText], jsonOf(want.Calls()), want.Text())
				}
			})
		})
		t.Run("A2 a stream that is cut has no half call: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				whole := anyAnswer(t, f)
				stream, err := f.WriteStream(whole)
				if err != nil {
					t.Fatal(err)
				}
				from := rapid.IntRange(0, len(stream)).Draw(t, "from")
				for n := from; n < min(from+40, len(stream)); n++ {
					cutOpenAI(t, f, stream[:n], whole)
				}
			})
		})
	}
}

// cutOpenAI reads the beginning of a stream: what it tells is a beginning of all, and
// the answer has what was told. Chat is whole once it has a reason for its end; only
// the tokens may be missing then.
func cutOpenAI(t *rapid.T, f Format, text []byte, whole Answer) {
	var told []tool.Call
	a, err := f.Stream(bytes.NewReader(text), func(d Delta) {
		if d.Kind == DeltaCall {
			told = append(told, d.Call)
		}
	})
	all := whole.Calls()
	if len(told) > len(all) || jsonOf(told) != jsonOf(all[:len(told):len(told)]) && len(told) > 0 || jsonOf(a.Calls()) != jsonOf(told) {
		t.Fatalf("cut at %d: told %s, has %s, of %s", len(text), jsonOf(told), jsonOf(a.Calls()), jsonOf(all))
	}
	if err == nil {
		a.Usage = whole.Usage
		if !reflect.DeepEqual(a, whole) {
			t.Fatalf("cut at %d: got %s and no error, want %s", len(text), jsonOf(a), jsonOf(whole))
		}
	} else if !errors.Is(err, io.ErrUnexpectedEOF) || a.Stop != "" {
		t.Fatalf("cut at %d: got %v and stop %q, want an unexpected end", len(text), err, a.Stop)
	}
}

// anyRequest is a request as the format can hold it: roles alternate, each call has its
// result right behind it.
func anyRequest(t *rapid.T, f Format) Request {
	r := Request{
		Model: rapid.SampledFrom([]string{"gpt-4o", "gpt-5", "openai/o4-mini", "llama"}).Draw(t, "model"), System: anyWords(t, "system"),
		MaxTokens: rapid.IntRange(0, 9000).Draw(t, "limit"), Stream: rapid.Bool().Draw(t, "stream"),
	}
	if rapid.Bool().Draw(t, "tools") {
		r.Tools = json.RawMessage(`[{"type": "function","name":"<f>"}]`)
		r.Choice = Choice{Mode: rapid.SampledFrom([]string{"", "auto", "any", "none", "tool"}).Draw(t, "mode"), Alone: rapid.Bool().Draw(t, "alone")}
		if r.Choice.Mode == "tool" {
			r.Choice.Name = "f"
		}
	}
	if rapid.Bool().Draw(t, "extra") {
		r.Extra = map[string]json.RawMessage{"temperature": json.RawMessage("0.50"), "x": json.RawMessage(`{"<": [1.0]}`)}
	}
	image := &tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: []byte{1, 2, 3}}
	paper := &tool.Content{Type: tool.LinkContent, MediaType: "application/pdf", Name: "a.pdf", Data: []byte("%PDF")}
	sound := &tool.Content{Type: tool.AudioContent, MediaType: "audio/mpeg", Data: []byte{9}}
	var last []Part
	for turn := range rapid.IntRange(1, 4).Draw(t, "turns") {
		var user []Part
		for _, p := range last {
			if p.Kind != PartCall {
				continue
			}
			result := Result{CallID: p.Call.ID, Name: p.Call.Name, Content: []tool.Content{tool.Text(anyWords(t, "result"))}}
			if f == (Responses{}) && rapid.Bool().Draw(t, "shows") {
				result.Content = append(result.Content, *image)
			}
			user = append(user, Part{Kind: PartResult, Result: &result})
		}
		for range rapid.IntRange(0, 3).Draw(t, "says") {
			p := Text(anyWords(t, "user"))
			if media := rapid.SampledFrom([]*tool.Content{nil, image, paper, sound}).Draw(t, "media"); media != nil {
				p = Part{Kind: PartMedia, Media: media}
			}
			user = append(user, p)
		}
		if len(user) == 0 {
			user = append(user, Text("go on"))
		}
		last = append(anySaid(t, f, turn*10, true), anyCall(t, turn*10+9, true))
		if f == (Responses{}) { // behind a thought it has its own form
			last[len(last)-1].Call.Input = json.RawMessage("{}")
			last[len(last)-1].Own, last[len(last)-1].Of = json.RawMessage(fmt.Sprintf(`{"type":"function_call","id":"fc","namespace":"n","call_id":%q,"name":%q,"arguments":"{}"}`, last[len(last)-1].Call.ID, last[len(last)-1].Call.Name)), f.String()
		}
		r.Messages = append(r.Messages, Message{Role: User, Parts: user}, Message{Role: Assistant, Parts: last})
	}
	return r
}

func TestOpenAIRequestLaw(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{Chat{}, Responses{}} {
		t.Run("A2 a request is read as it was written: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := anyRequest(t, f)
				body, err := f.WriteRequest(want)
				if err != nil || !json.Valid(body) {
					t.Fatalf("got %q, %v, want JSON", body, err)
				}
				if got, err := f.ReadRequest(body); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("got\n%s, %v\nwant\n%s\nbody %s", jsonOf(got), err, jsonOf(want), body)
				}
			})
		})
	}
}
