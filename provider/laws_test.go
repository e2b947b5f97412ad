package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

// someText is text that is not blank and does not end with white space.
func someText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.StringN(0, 60, -1).Draw(t, "text") + rapid.SampledFrom([]string{"x", "é", "\"", "\\", "<", "\u2028.", "🙂"}).Draw(t, "end")
	})
}

func someInput() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		var w writer
		w.open('{')
		for i := range rapid.IntRange(0, 3).Draw(t, "members") {
			w.text(fmt.Sprint("m", i), someText().Draw(t, "value"))
		}
		w.close('}')
		return json.RawMessage(w)
	})
}

// ownPart is a part that only the format knows.
func ownPart(t *rapid.T, f Format) Part {
	text := string(quoted(someText().Draw(t, "own")))
	if f == (Gemini{}) {
		return rapid.SampledFrom([]Part{
			{Kind: PartOwn, Own: json.RawMessage(`{"executableCode":{"code":` + text + `}}`), Of: "gemini"},
			{Kind: PartText, Own: json.RawMessage(`{"text":"","thoughtSignature":` + text + `}`), Of: "gemini"},
		}).Draw(t, "part")
	}
	return Part{Kind: PartOwn, Own: json.RawMessage(`{"type":"server_tool_use","id":"s","name":` + text + `,"input":{}}`), Of: "anthropic"}
}

// signedThought is a thought that may go back.
func signedThought(t *rapid.T, f Format) Part {
	p := Part{Kind: PartThought, Text: someText().Draw(t, "thought"), Of: f.String()}
	var w writer
	w.open('{')
	if f == (Gemini{}) {
		w.text("text", p.Text)
		w.flag("thought", true)
		w.text("thoughtSignature", "s")
	} else {
		w.text("type", "thinking")
		w.text("thinking", p.Text)
		w.text("signature", "s")
	}
	w.close('}')
	p.Own = json.RawMessage(w)
	return p
}

// spoken is what a model may say; kind 0 to 4. Gemini joins texts that follow each
// other, so that none does.
func spoken(t *rapid.T, f Format, id int) []Part {
	var parts []Part
	last := PartKind("")
	for range rapid.IntRange(0, 6).Draw(t, "parts") {
		var p Part
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			p = Text(someText().Draw(t, "text"))
		case 1:
			p = signedThought(t, f)
		case 2:
			p = ownPart(t, f)
		default:
			id++
			p = call(fmt.Sprint("call_", id), rapid.SampledFrom([]string{"add", "sub"}).Draw(t, "name"), "")
			p.Call.Input = someInput().Draw(t, "input")
		}
		if p.Kind == PartText && p.Own == nil && last == PartText {
			continue
		}
		last = p.Kind
		parts = append(parts, p)
	}
	return parts
}

func someAnswer(t *rapid.T, f Format) Answer {
	a := Answer{ID: "m", Model: "model", Parts: spoken(t, f, 0)}
	if rapid.Bool().Draw(t, "unsigned") {
		a.Parts = append([]Part{{Kind: PartThought, Text: someText().Draw(t, "thought")}}, a.Parts...)
	}
	a.Stop = rapid.SampledFrom([]Stop{StopEnd, StopLength, StopRefusal, StopOther}).Draw(t, "stop")
	if a.Stop == StopEnd && len(a.Calls()) > 0 {
		a.Stop = StopCalls
	}
	if a.Stop == StopRefusal && rapid.Bool().Draw(t, "why") {
		a.Parts = append(a.Parts, Part{Kind: PartRefusal, Text: "no"})
	}
	if f == (Gemini{}) { // an id of the model is kept in its own form
		for i := range a.Parts {
			if c := a.Parts[i].Call; c != nil {
				c.ID = ""
			}
		}
	}
	a.Usage = Usage{Input: 100, Output: rapid.IntRange(10, 99).Draw(t, "output"), CacheRead: rapid.IntRange(0, 9).Draw(t, "read"), Thought: rapid.IntRange(0, 9).Draw(t, "thought")}
	return a
}

func TestAnswerLaw(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{Anthropic{}, Gemini{}} {
		t.Run("A2 an answer is read as it was written: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := someAnswer(t, f)
				body, err := f.WriteAnswer(want)
				if err != nil || !json.Valid(body) {
					t.Fatalf("got %q, %v, want JSON", body, err)
				}
				if got, err := f.ReadAnswer(body); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("got\n%s, %v\nwant\n%s", shown(got), err, shown(want))
				}
				stream, err := f.WriteStream(want)
				if err != nil {
					t.Fatal(err)
				}
				var told []tool.Call
				in := &chunks{stream, rapid.IntRange(1, 200).Draw(t, "size")}
				got, err := f.Stream(in, func(d Delta) {
					if d.Kind == DeltaCall {
						told = append(told, d.Call)
					}
				})
				if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(told, want.Calls()) {
					t.Fatalf("got\n%s, %v\nwant\n%s\ntold %v", shown(got), err, shown(want), told)
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
				for n := from; n < min(from+100, len(stream)); n++ {
					cutAt(t, f, stream[:n], want)
				}
			})
		})
	}
}

// cutAt reads the beginning of a stream.
func cutAt(t *rapid.T, f Format, text []byte, whole Answer) {
	calls := whole.Calls()
	n := 0
	a, err := f.Stream(bytes.NewReader(text), func(d Delta) {
		if d.Kind != DeltaCall {
			return
		}
		if n >= len(calls) || !reflect.DeepEqual(d.Call, calls[n]) {
			t.Fatalf("cut at %d: told %v, want a call of %v", len(text), d.Call, calls)
		}
		n++
	})
	if len(a.Calls()) != n {
		t.Fatalf("cut at %d: told %d calls, the answer has %d", len(text), n, len(a.Calls()))
	}
	if err == nil && !reflect.DeepEqual(a, whole) {
		t.Fatalf("cut at %d: got %s and no error, want %s", len(text), shown(a), shown(whole))
	}
	if err != nil && (!errors.Is(err, io.ErrUnexpectedEOF) || a.Stop != "") {
		t.Fatalf("cut at %d: got %v, stop %q, want %v", len(text), err, a.Stop, io.ErrUnexpectedEOF)
	}
}

// someRequest is a request that the format can hold: roles alternate, each call has
// its result.
func someRequest(t *rapid.T, f Format) Request {
	r := Request{System: someText().Draw(t, "system"), MaxTokens: rapid.IntRange(1, 9000).Draw(t, "limit")}
	if f == (Anthropic{}) {
		r.Model, r.Stream, r.Cache = "m", rapid.Bool().Draw(t, "stream"), rapid.Bool().Draw(t, "cache")
	}
	if rapid.Bool().Draw(t, "tools") {
		r.Tools = json.RawMessage(`[{"name":"add"},{"name":"sub"}]`)
		r.Choice = rapid.SampledFrom([]Choice{{}, {Mode: "auto"}, {Mode: "any"}, {Mode: "none"}, {Mode: "tool", Name: "add"}}).Draw(t, "choice")
		if f == (Anthropic{}) && r.Choice.Mode == "any" {
			r.Choice.Alone = true
		}
	}
	if rapid.Bool().Draw(t, "extra") {
		r.Extra = map[string]json.RawMessage{"x": json.RawMessage(`{"<": 1.0}`)}
	}
	ids := 0
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		var user []Part
		if n := len(r.Messages); n > 0 {
			user = answered(t, f, r.Messages[n-1].Parts)
		}
		user = append(user, Text(someText().Draw(t, "user")), Part{Kind: PartMedia, Media: new(image())})
		r.Messages = append(r.Messages, said(User, user...))
		parts := append([]Part{Text("so")}, spoken(t, f, ids)...)
		if parts[len(parts)-1].Kind == PartText && len(parts) > 1 && parts[1].Kind == PartText && parts[1].Own == nil {
			parts = parts[1:]
		}
		if f == (Anthropic{}) { // searches have their results, and thoughts are about something
			parts = append(parts, Part{Kind: PartOwn, Own: json.RawMessage(`{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`), Of: "anthropic"})
		}
		for _, p := range parts {
			if p.Kind == PartCall {
				ids++
			}
		}
		r.Messages = append(r.Messages, said(Assistant, parts...))
	}
	r.Messages = append(r.Messages, said(User, append(answered(t, f, r.Messages[len(r.Messages)-1].Parts), Text("go on"))...))
	return r
}

// answered are results of calls.
func answered(t *rapid.T, f Format, parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if p.Kind != PartCall {
			continue
		}
		r := result(p.Call.ID, rapid.Bool().Draw(t, "failed"), tool.Text(someText().Draw(t, "result")))
		if f == (Gemini{}) {
			r.Result.Name = p.Call.Name
		} else if !r.Result.Error {
			r.Result.Content = append(r.Result.Content, image())
		}
		out = append(out, r)
	}
	return out
}

func TestRequestLaw(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{Anthropic{}, Gemini{}} {
		t.Run("A2 a request is read as it was written: "+f.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := someRequest(t, f)
				body, err := f.WriteRequest(want)
				if err != nil || !json.Valid(body) {
					t.Fatalf("got %q, %v, want JSON", body, err)
				}
				got, err := f.ReadRequest(body)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("got\n%+v, %v\nwant\n%+v\n%s", got, err, want, body)
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
	for _, f := range []Format{Anthropic{}, Gemini{}} {
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
