package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

// isOpenAI tells the two formats apart that take input which is no JSON.
func isOpenAI(f Format) bool { return f == (Chat{}) || f == (Responses{}) }

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// someText is text that is not empty, and of OpenAI's may be blank: the others leave that
// out, and Anthropic white space at the end.
func someText(t *rapid.T, f Format, name string) string {
	ends := []string{"x", "é", "\"", "\\", "<", "\u2028.", "🙂", "\u2028", "\n", "data: "}
	if !isOpenAI(f) {
		ends = ends[:7]
	}
	return rapid.StringN(0, 60, -1).Draw(t, name) + rapid.SampledFrom(ends).Draw(t, name+" end")
}

// someCall is a call; odd: its input may be no JSON, as models write it, where the format
// takes it back as it is.
func someCall(t *rapid.T, f Format, id int, odd bool) Part {
	inputs := []string{"{}", `{"a":1}`, `{"a":{"b":["}",{}]}}`, "text", "[]"}
	if !isOpenAI(f) {
		inputs = inputs[:4]
	}
	in := rapid.SampledFrom(inputs).Draw(t, "input")
	if in == "text" {
		in = `{"text":` + string(quoted(someText(t, f, "argument"))) + `}`
	}
	if odd && isOpenAI(f) && rapid.IntRange(0, 4).Draw(t, "odd") == 0 {
		in = rapid.SampledFrom([]string{`{"a":`, "7", "nonsense", `{}{}`}).Draw(t, "odd input")
	}
	return call(fmt.Sprint("call_", id), rapid.SampledFrom([]string{"add", "f", "get_time"}).Draw(t, "name"), in)
}

// ownForm is what the provider has for a part, or "" where ours holds all of it. What
// comes behind a thought keeps its form in Responses.
func ownForm(t *rapid.T, f Format, p Part, n int, behind bool) string {
	text := string(quoted(p.Text))
	switch {
	case f == (Anthropic{}) && p.Kind == PartThought:
		return `{"type":"thinking","thinking":` + text + `,"signature":"s"}`
	case f == (Anthropic{}) && p.Kind == PartOwn:
		return `{"type":"server_tool_use","id":"s","name":` + string(quoted(someText(t, f, "own"))) + `,"input":{}}`
	case f == (Gemini{}) && p.Kind == PartThought:
		return `{"text":` + text + `,"thought":true,"thoughtSignature":"s"}`
	case f == (Gemini{}) && p.Kind == PartOwn:
		return `{"executableCode":{"code":` + string(quoted(someText(t, f, "own"))) + `}}`
	case f == (Responses{}) && p.Kind == PartThought:
		return fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[{"type":"summary_text","text":%s}],"encrypted_content":"e<"}`, n, text)
	case f == (Responses{}) && p.Kind == PartOwn:
		return fmt.Sprintf(`{"id":"ws_%d","type":"web_search_call", "action":{"query":%s}}`, n, quoted(someText(t, f, "own")))
	case f == (Responses{}) && p.Kind == PartText && behind:
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}`, n, text)
	case f == (Responses{}) && p.Kind == PartCall && behind:
		return fmt.Sprintf(`{"id":"fc_%d","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%s}`, n, p.Call.ID, p.Call.Name, quoted(string(p.Call.Input)))
	case f == (Chat{}) && p.Kind == PartThought && rapid.Bool().Draw(t, "details"):
		return `{"reasoning_details":[{"type":"reasoning.text","text":` + text + `,"index":0,"signature":"s"},{"type":"reasoning.encrypted","data":"d","index":1}]}`
	case f == (Chat{}) && p.Kind == PartThought:
		return `{"reasoning_content":` + text + `}`
	case f == (Chat{}) && p.Kind == PartCall && rapid.IntRange(0, 3).Draw(t, "signed") == 0:
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s},"extra_content":{"google":{"thought_signature":"s"}}}`,
			p.Call.ID, p.Call.Name, quoted(string(p.Call.Input)))
	}
	return ""
}

// spoken is what a model may say in the format, as it is read: Chat has one thought, one
// text and then calls; Gemini joins texts that follow each other, so that none does.
func spoken(t *rapid.T, f Format, id int, odd bool) []Part {
	var parts []Part
	behind := false
	for i := range rapid.IntRange(0, 6).Draw(t, "parts") {
		var p Part
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			p = Text(someText(t, f, "text"))
		case 1:
			p = Part{Kind: PartThought, Text: someText(t, f, "thought")}
		case 2:
			p = Part{Kind: PartOwn}
		case 3:
			if f != (Gemini{}) {
				continue
			}
			p = Part{Kind: PartText, Own: json.RawMessage(`{"text":"","thoughtSignature":` + string(quoted(someText(t, f, "signature"))) + `}`)}
		default:
			p = someCall(t, f, id+i, odd)
		}
		if own := ownForm(t, f, p, id+i, behind); own != "" {
			p.Own = json.RawMessage(own)
		}
		if p.Own != nil {
			p.Of = f.String()
		}
		there := func(was Part) bool { return was.Kind == p.Kind }
		switch {
		case p.Kind == PartOwn && p.Own == nil:
		case f == (Chat{}) && p.Kind != PartCall && slices.ContainsFunc(parts, there):
		case f == (Gemini{}) && p.Kind == PartText && p.Own == nil && len(parts) > 0 && there(parts[len(parts)-1]):
		default:
			parts = append(parts, p)
			behind = behind || p.Kind == PartThought
		}
	}
	if f == (Chat{}) {
		slices.SortStableFunc(parts, func(a, b Part) int {
			order := []PartKind{PartThought, PartText, PartCall}
			return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
		})
	}
	return parts
}

// someAnswer is an answer as the format can hold it.
func someAnswer(t *rapid.T, f Format) Answer {
	a := Answer{ID: "m", Model: "model", Stop: rapid.SampledFrom([]Stop{StopEnd, StopEnd, StopLength, StopRefusal, StopOther}).Draw(t, "stop")}
	a.Parts = spoken(t, f, 0, a.Stop == StopEnd)
	if n := len(a.Parts); f == (Anthropic{}) && a.Stop == StopLength && n > 0 && a.Parts[n-1].Kind == PartCall {
		a.Parts[n-1].Call.Input = json.RawMessage(`{"a":1}`) // without input it might be half a call
	}
	if a.Stop == StopEnd && len(a.Calls()) > 0 {
		a.Stop = StopCalls
	}
	a.Usage = Usage{
		Input: 100, Output: rapid.IntRange(10, 99).Draw(t, "output"), CacheRead: rapid.IntRange(0, 9).Draw(t, "read"),
		CacheWrite: rapid.IntRange(0, 9).Draw(t, "written"), Thought: rapid.IntRange(0, 9).Draw(t, "thought"),
	}
	if isOpenAI(f) {
		return a
	}
	if rapid.Bool().Draw(t, "unsigned") {
		a.Parts = append([]Part{{Kind: PartThought, Text: someText(t, f, "thought")}}, a.Parts...)
	}
	if a.Stop == StopRefusal && rapid.Bool().Draw(t, "why") {
		a.Parts = append(a.Parts, Part{Kind: PartRefusal, Text: "no"})
	}
	if f == (Gemini{}) {
		a.Usage.CacheWrite = 0
		for i := range a.Parts { // an id of the model is kept in its own form
			if c := a.Parts[i].Call; c != nil {
				c.ID = ""
			}
		}
	}
	return a
}

func TestAnswerLaw(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		t.Run("A2 an answer is read as it was written: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := someAnswer(t, f)
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
		t.Run("A2 a stream that is cut is an error, and has no half call: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := someAnswer(t, f)
				stream, err := f.WriteStream(want)
				if err != nil {
					t.Fatal(err)
				}
				from := rapid.IntRange(0, len(stream)).Draw(t, "from")
				for n := from; n < min(from+60, len(stream)); n++ {
					cutAt(t, f, stream[:n], want)
				}
			})
		})
	}
}

// cutAt reads the beginning of a stream: what it tells is a beginning of all, and the
// answer has what was told. Chat is whole once it has a reason for its end; only the
// tokens may be missing then.
func cutAt(t *rapid.T, f Format, text []byte, whole Answer) {
	calls := whole.Calls()
	n := 0
	a, err := f.Stream(bytes.NewReader(text), func(d Delta) {
		if d.Kind != DeltaCall {
			return
		}
		if n >= len(calls) || !reflect.DeepEqual(d.Call, calls[n]) {
			t.Fatalf("cut at %d: told %s, want a call of %s", len(text), jsonOf(d.Call), jsonOf(calls))
		}
		n++
	})
	if got := a.Calls(); len(got) != n || n > 0 && !reflect.DeepEqual(got, calls[:n]) {
		t.Fatalf("cut at %d: told %d calls of %s, the answer has %s", len(text), n, jsonOf(calls), jsonOf(got))
	}
	if f == (Chat{}) && err == nil {
		a.Usage = whole.Usage
	}
	if err == nil && !reflect.DeepEqual(a, whole) {
		t.Fatalf("cut at %d: got %s and no error, want %s", len(text), jsonOf(a), jsonOf(whole))
	}
	if err != nil && (!errors.Is(err, io.ErrUnexpectedEOF) || a.Stop != "") {
		t.Fatalf("cut at %d: got %v, stop %q, want %v", len(text), err, a.Stop, io.ErrUnexpectedEOF)
	}
}

// someRequest is a request that the format can hold: roles alternate, each call has its
// result right behind it.
func someRequest(t *rapid.T, f Format) Request {
	r := Request{System: someText(t, f, "system"), MaxTokens: rapid.IntRange(1, 9000).Draw(t, "limit")}
	tools := `[{"name":"add"},{"name":"sub"}]`
	switch f {
	case Anthropic{}:
		r.Model, r.Cache = "m", rapid.Bool().Draw(t, "cache")
	case Chat{}, Responses{}:
		r.Model = rapid.SampledFrom([]string{"gpt-4o", "gpt-5", "openai/o4-mini", "llama"}).Draw(t, "model")
		r.MaxTokens *= rapid.IntRange(0, 1).Draw(t, "limited")
		tools = `[{"type": "function","name":"<f>"}]`
	}
	r.Stream = f != (Gemini{}) && rapid.Bool().Draw(t, "stream")
	if rapid.Bool().Draw(t, "tools") {
		r.Tools = json.RawMessage(tools)
		r.Choice = rapid.SampledFrom([]Choice{{}, {Mode: "auto"}, {Mode: "any"}, {Mode: "none"}, {Mode: "tool", Name: "add"}}).Draw(t, "choice")
		if isOpenAI(f) || f == (Anthropic{}) && r.Choice.Mode == "any" {
			r.Choice.Alone = rapid.Bool().Draw(t, "alone")
		}
	}
	if rapid.Bool().Draw(t, "extra") {
		r.Extra = map[string]json.RawMessage{"temperature": json.RawMessage("0.50"), "x": json.RawMessage(`{"<": [1.0]}`)}
	}
	var last []Part
	for turn := range rapid.IntRange(1, 4).Draw(t, "turns") {
		user := answered(t, f, last)
		for range rapid.IntRange(0, 3).Draw(t, "says") {
			user = append(user, someSaying(t, f))
		}
		if len(user) == 0 {
			user = append(user, Text("go on"))
		}
		last = spoken(t, f, turn*10, true)
		switch f {
		case Anthropic{}: // searches have their results, and thoughts are about something
			last = append(last, Part{Kind: PartOwn, Own: json.RawMessage(`{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`), Of: "anthropic"})
		case Gemini{}:
			if len(last) == 0 {
				last = []Part{Text("so")}
			}
		case Responses{}: // behind a thought it has its own form
			p := call(fmt.Sprint("call_", turn*10+9), "f", "{}")
			p.Own, p.Of = json.RawMessage(fmt.Sprintf(`{"type":"function_call","id":"fc","namespace":"n","call_id":%q,"name":"f","arguments":"{}"}`, p.Call.ID)), f.String()
			last = append(last, p)
		default:
			last = append(last, someCall(t, f, turn*10+9, true))
		}
		r.Messages = append(r.Messages, said(User, user...), said(Assistant, last...))
	}
	if isOpenAI(f) && rapid.Bool().Draw(t, "ends with the model") {
		return r
	}
	r.Messages = append(r.Messages, said(User, append(answered(t, f, last), Text("go on"))...))
	if f == (Gemini{}) {
		renumber(r.Messages)
	}
	return r
}

// someSaying is something that a user says.
func someSaying(t *rapid.T, f Format) Part {
	paper := tool.Content{Type: tool.LinkContent, MediaType: "application/pdf", Name: "a.pdf", Data: []byte("%PDF")}
	sound := tool.Content{Type: tool.AudioContent, MediaType: "audio/mpeg", Data: []byte{9}}
	media := []tool.Content{image(), paper, sound}
	if !isOpenAI(f) {
		media = media[:1]
	}
	if rapid.Bool().Draw(t, "shows") {
		return Part{Kind: PartMedia, Media: new(rapid.SampledFrom(media).Draw(t, "media"))}
	}
	return Text(someText(t, f, "user"))
}

// answered are results of calls.
func answered(t *rapid.T, f Format, parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if p.Kind != PartCall {
			continue
		}
		r := result(p.Call.ID, !isOpenAI(f) && rapid.Bool().Draw(t, "failed"), tool.Text(someText(t, f, "result")))
		if f != (Anthropic{}) {
			r.Result.Name = p.Call.Name
		}
		if !r.Result.Error && (f == (Anthropic{}) || f == (Responses{})) && rapid.Bool().Draw(t, "shows") {
			r.Result.Content = append(r.Result.Content, image())
		}
		out = append(out, r)
	}
	return out
}

// renumber gives calls and results the ids that they are read with where there are none.
func renumber(messages []Message) {
	ids := map[string]string{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				ids[p.Call.ID] = fmt.Sprint("call_", len(ids)+1)
				p.Call.ID = ids[p.Call.ID]
			}
			if p.Result != nil {
				p.Result.CallID = ids[p.Result.CallID]
			}
		}
	}
}

func TestRequestLaw(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		t.Run("A2 a request is read as it was written: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := someRequest(t, f)
				body, err := f.WriteRequest(want)
				if err != nil || !json.Valid(body) {
					t.Fatalf("got %q, %v, want JSON", body, err)
				}
				if got, err := f.ReadRequest(body); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("got\n%s, %v\nwant\n%s\nbody %s", jsonOf(got), err, jsonOf(want), body)
				}
				if n := bytes.Count(body, []byte(`"cache_control"`)); n > 4 || n > 0 != want.Cache {
					t.Fatalf("%d marks of the cache, want %v: %s", n, want.Cache, body)
				}
			})
		})
	}
}

// A hundred calls are read in time that grows with their bytes.
func BenchmarkStream(b *testing.B) {
	a := Answer{ID: "m", Model: "model", Stop: StopCalls}
	for i := range 100 {
		a.Parts = append(a.Parts, call(fmt.Sprint("call_", i), "add", `{"text":"`+string(bytes.Repeat([]byte("word "), 100))+`"}`))
	}
	for _, f := range Formats() {
		text, err := f.WriteStream(a)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Stream(iotest.HalfReader(bytes.NewReader(text)), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
