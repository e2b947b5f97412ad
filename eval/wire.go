package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing/iotest"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// wireRow is one of two things: the events of a stream with the calls in it, or a
// conversation with a provider as it was recorded.
type wireRow struct {
	ID           string            `json:"id"`
	API          string            `json:"api"`
	Events       []json.RawMessage `json:"events"`
	Expect       []wireCall        `json:"expect_tool_calls"`
	Interactions []wireInteraction `json:"interactions"`
}

// wireInteraction is one request and its answer.
type wireInteraction struct {
	URL      string   `json:"url"`
	Request  wireBody `json:"request"`
	Status   int      `json:"status"`
	Response wireBody `json:"response"`
}

// wireBody is the body of a request or an answer. In the file it is a string, or an
// object where it is binary.
type wireBody struct {
	text   string
	binary bool
}

// UnmarshalJSON reads it.
func (b *wireBody) UnmarshalJSON(text []byte) error {
	if b.binary = bytes.HasPrefix(text, []byte("{")); b.binary {
		return nil
	}
	return json.Unmarshal(text, &b.text)
}

// wireCall is a call as somebody else read it.
type wireCall struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Kind      string  `json:"kind"`
	Arguments *string `json:"arguments"` // nil: not known
	Partial   bool    `json:"partial"`   // the next one without a name goes on with it
}

// wireReport counts, and prints what it is told.
type wireReport struct {
	out   *json.Encoder
	err   error // of out
	id    string
	index int // of the interaction, from 1; 0: there are none

	records, decoded, streams, other, calls, expected int
	cuts, requests, built, unknown                    int
	explained, faults                                 map[string]int
	members                                           map[string]int // of servers' own, in requests
}

// wire reads what providers sent with package provider, and writes again what was
// sent to them. Every stream of a format that the package speaks must decode, hold
// the calls expected, and give no call that is not complete wherever it is cut. A
// request that is read and written again must be the same, and so must the one
// that follows from the answer before it; the types of the vendors' SDKs must know
// all of it.
func wire(out *json.Encoder, files []string) error {
	rows, err := readLines[wireRow](files[0])
	if err != nil {
		return err
	}
	r := &wireReport{out: out, explained: map[string]int{}, faults: map[string]int{}, members: map[string]int{}}
	for i, row := range rows {
		if row.ID == "" || len(row.Events) == 0 && len(row.Interactions) == 0 {
			return fmt.Errorf("%s: row %d: got id %q with %d events and %d interactions, want an id and either", files[0], i+1, row.ID, len(row.Events), len(row.Interactions))
		}
		r.id, r.index = row.ID, 0
		r.records++
		if len(row.Events) > 0 {
			r.events(row)
		} else {
			r.conversation(row)
		}
	}
	return r.summary()
}

func (r *wireReport) summary() error {
	faults := 0
	for _, n := range r.faults {
		faults += n
	}
	summary := map[string]any{
		"program": "wire", "records": r.records, "decoded": r.decoded, "streams": r.streams, "other": r.other,
		"calls": r.calls, "calls_expected": r.expected, "explained": r.explained, "cuts": r.cuts,
		"requests": r.requests, "built": r.built, "unknown_members": r.unknown, "servers_own_members": r.members, "faults": r.faults,
	}
	if err := errors.Join(r.err, r.out.Encode(summary)); err != nil {
		return err
	}
	if faults > 0 || r.decoded == 0 {
		return fmt.Errorf("%d decoded, %d faults, want some and none: %w", r.decoded, faults, errMissed)
	}
	return nil
}

// row prints something about the record at hand.
func (r *wireReport) row(what, detail, why string) {
	line := map[string]any{"id": r.id, "what": what, "detail": detail}
	if r.index > 0 {
		line["interaction"] = r.index
	}
	if why != "" {
		line["why"] = why
	}
	r.err = errors.Join(r.err, r.out.Encode(line))
}

// fault is something that must not be.
func (r *wireReport) fault(what, format string, args ...any) {
	r.faults[what]++
	r.row(what, fmt.Sprintf(format, args...), "")
}

// explain is a mismatch with a reason.
func (r *wireReport) explain(detail, why string) {
	r.explained[why]++
	r.row("explained", detail, why)
}

// wireAPI is the format of a record of events.
func wireAPI(api string) (f provider.Format, spoken bool) {
	switch api {
	case "anthropic-messages":
		return provider.Anthropic{}, true
	case "openai-responses":
		return provider.Responses{}, true
	case "openai-chat":
		return provider.Chat{}, true
	case "gemini":
		return provider.Gemini{}, true
	}
	return nil, false
}

// wireURL is the format of requests to an address.
func wireURL(address string) (f provider.Format, spoken bool) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, false
	}
	path := strings.TrimSuffix(u.Path, "/")
	switch _, method, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":"); {
	case strings.HasSuffix(path, "/chat/completions"):
		return provider.Chat{}, true
	case strings.HasSuffix(path, "/responses"):
		return provider.Responses{}, true
	case strings.HasSuffix(path, "/messages"):
		return provider.Anthropic{}, true
	case method == "generateContent" || method == "streamGenerateContent":
		return provider.Gemini{}, true
	case !strings.Contains(path, "anthropic"): // a model of others, in a cloud
		return nil, false
	case strings.HasSuffix(path, "/invoke") || strings.HasSuffix(path, "/invoke-with-response-stream"):
		return provider.Anthropic{}, true
	case method == "rawPredict" || method == "streamRawPredict":
		return provider.Anthropic{}, true
	}
	return nil, false
}

// sse writes events as a stream. Two of the APIs name each event by its type, and
// Chat Completions ends with a word.
func sse(f provider.Format, events []json.RawMessage) []byte {
	var b bytes.Buffer
	for _, e := range events {
		var typed struct{ Type string }
		if f != (provider.Chat{}) && json.Unmarshal(e, &typed) == nil && typed.Type != "" {
			b.WriteString("event: " + typed.Type + "\n")
		}
		var line bytes.Buffer
		if json.Compact(&line, e) != nil {
			line.Write(e)
		}
		fmt.Fprintf(&b, "data: %s\n\n", line.Bytes())
	}
	if f == (provider.Chat{}) {
		b.WriteString("data: [DONE]\n\n")
	}
	return b.Bytes()
}

// events checks a record of events.
func (r *wireReport) events(row wireRow) {
	if row.API == "other" {
		r.other++
		return
	}
	f, ok := wireAPI(row.API)
	if !ok {
		r.fault("api", "got %q, want one of provider.Formats or other", row.API)
		return
	}
	var all provider.Answer
	for _, events := range answers(row.Events) {
		end := endOf(events)
		a, ok := r.stream(f, sse(f, events), end)
		if !ok {
			return
		}
		all.Parts = append(all.Parts, a.Parts...)
		if end == wireWhole {
			r.sentBack(f, a, events)
		}
	}
	r.decoded++
	r.sameCalls(all, whole(row.Expect), row.Events)
}

// answers splits events that hold several answers, one after the other.
func answers(events []json.RawMessage) [][]json.RawMessage {
	var out [][]json.RawMessage
	first, ended, id := 0, false, ""
	for i, text := range events {
		e := readWireEvent(text)
		if other := e.id(); ended && (e.starts() || other != "" && id != "" && other != id) {
			out = append(out, events[first:i])
			first, ended, id = i, false, ""
		}
		ended = ended || e.ends()
		if id == "" {
			id = e.id()
		}
	}
	return append(out, events[first:])
}

// wireEvent is what events of all formats are told apart by.
type wireEvent struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`         // of Chat Completions
	ResponseID string          `json:"responseId"` // of Gemini
	Error      json.RawMessage `json:"error"`
	Choices    []struct {
		Reason string `json:"finish_reason"`
	} `json:"choices"`
	Candidates []struct {
		Reason string `json:"finishReason"`
	} `json:"candidates"`
}

func readWireEvent(text []byte) wireEvent {
	var e wireEvent
	if json.Unmarshal(text, &e) != nil {
		return wireEvent{}
	}
	return e
}

func (e wireEvent) id() string { return e.ID + e.ResponseID }

// starts reports whether it is the first event of an answer.
func (e wireEvent) starts() bool { return e.Type == "message_start" || e.Type == "response.created" }

// ends reports whether the answer is whole with it.
func (e wireEvent) ends() bool {
	switch e.Type {
	case "message_stop", "response.completed", "response.incomplete", "response.failed":
		return true
	}
	for _, c := range e.Choices {
		if c.Reason != "" {
			return true
		}
	}
	for _, c := range e.Candidates {
		if c.Reason != "" {
			return true
		}
	}
	return e.fails()
}

// fails reports whether it is the provider's word that something went wrong.
func (e wireEvent) fails() bool {
	return e.Type == "error" || e.Type == "response.failed" || len(e.Error) > 0 && string(e.Error) != "null"
}

// conversation checks a recorded conversation.
func (r *wireReport) conversation(row wireRow) {
	for i, in := range row.Interactions {
		r.index = i + 1
		f, ok := wireURL(in.URL)
		if !ok {
			r.other++
			continue
		}
		r.request(f, in)
		if in.Response.binary { // the frames of Bedrock
			r.other++
			continue
		}
		a, ok := r.answer(f, in, []byte(in.Response.text))
		if !ok || i+1 == len(row.Interactions) {
			continue
		}
		next := row.Interactions[i+1]
		if g, ok := wireURL(next.URL); !ok || g != f {
			continue
		}
		r.followed(f, a, in, next)
	}
}

// answer reads the body of one answer, streamed or not.
func (r *wireReport) answer(f provider.Format, in wireInteraction, body []byte) (provider.Answer, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		var events []json.RawMessage
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				events = append(events, data)
			}
		}
		a, ok := r.stream(f, body, endOf(events))
		if ok {
			r.decoded++
		}
		return a, ok
	}
	var a provider.Answer
	var err error
	if _, panicked := caught(func() error { a, err = f.ReadAnswer(body); return nil }); panicked != nil {
		r.fault("decode", "%v", panicked)
		return a, false
	}
	said := (*provider.Error)(nil)
	switch {
	case in.Status >= 400 && errors.As(err, &said):
		r.decoded++
		return a, false
	case in.Status >= 400 || err != nil:
		r.fault("decode", "status %d: got error %v", in.Status, err)
		return a, false
	}
	r.decoded++
	r.calls += len(a.Calls())
	for n := 64; n < len(bytes.TrimSpace(body)); n += 64 {
		r.cuts++
		var cut provider.Answer
		result, panicked := caught(func() (err error) { cut, err = f.ReadAnswer(body[:n]); return err })
		if panicked != nil || result == nil || len(cut.Calls()) > 0 {
			r.fault("cut", "at %d of %d bytes: error %v, %v, %d calls", n, len(body), result, panicked, len(cut.Calls()))
			break
		}
	}
	return a, true
}

// wireTold is all that is told of a stream.
type wireTold struct {
	answer provider.Answer
	err    error
	calls  []tool.Call
	text   string
}

func wireRead(f provider.Format, body io.Reader) (t wireTold, panicked error) {
	_, panicked = caught(func() error {
		t.answer, t.err = f.Stream(body, func(d provider.Delta) {
			switch d.Kind {
			case provider.DeltaCall:
				t.calls = append(t.calls, d.Call)
			case provider.DeltaText, provider.DeltaThought, provider.DeltaRefusal, provider.DeltaBegun, provider.DeltaPart:
				t.text += string(d.Kind) + " " + d.Text + d.Call.Name
			}
		})
		return nil
	})
	return t, panicked
}

// wireEnd is how a recorded stream ends.
type wireEnd string

const (
	wireWhole  wireEnd = "whole"
	wireFailed wireEnd = "failed" // the provider says so
	wireBroken wireEnd = "broken" // the record ends in the middle
)

func endOf(events []json.RawMessage) wireEnd {
	end := wireBroken
	for _, text := range events {
		e := readWireEvent(text)
		if e.fails() {
			return wireFailed
		}
		if e.ends() {
			end = wireWhole
		}
	}
	return end
}

// stream reads a stream: at once, byte by byte, and cut.
func (r *wireReport) stream(f provider.Format, body []byte, end wireEnd) (provider.Answer, bool) {
	full, panicked := wireRead(f, bytes.NewReader(body))
	said := (*provider.Error)(nil)
	switch {
	case panicked != nil:
		r.fault("decode", "%v", panicked)
		return full.answer, false
	case end == wireFailed && !errors.As(full.err, &said):
		r.fault("decode", "got error %v, want the one that the provider tells", full.err)
		return full.answer, false
	case end == wireBroken && errors.Is(full.err, io.ErrUnexpectedEOF):
		r.explain(full.err.Error(), "the record ends before the stream does")
	case end != wireFailed && full.err != nil:
		r.fault("decode", "got error %v", full.err)
		return full.answer, false
	}
	r.streams++
	r.calls += len(full.calls)
	for _, c := range full.answer.Calls() {
		if !slices.ContainsFunc(full.calls, func(d tool.Call) bool { return reflect.DeepEqual(c, d) }) {
			r.fault("told", "call %s of the answer was not told", c.Name)
		}
	}
	if got, want := len(full.calls), len(full.answer.Calls()); got != want {
		r.fault("told", "%d calls are told, the answer has %d", got, want)
	}

	slow, panicked := wireRead(f, iotest.OneByteReader(bytes.NewReader(body)))
	if panicked != nil || fmt.Sprint(slow.err) != fmt.Sprint(full.err) || slow.text != full.text ||
		!reflect.DeepEqual(slow.calls, full.calls) || !reflect.DeepEqual(slow.answer, full.answer) {
		r.fault("chunks", "byte by byte: error %v, %v, %d calls, or another answer", slow.err, panicked, len(slow.calls))
	}
	for n := 0; n < len(body); n += 64 {
		r.cuts++
		cut, panicked := wireRead(f, bytes.NewReader(body[:n]))
		if panicked != nil {
			r.fault("cut", "at %d of %d bytes: %v", n, len(body), panicked)
			break
		}
		if why := half(cut, full); why != "" {
			r.fault("cut", "at %d of %d bytes: %s", n, len(body), why)
			break
		}
	}
	return full.answer, true
}

// half says what is wrong with what was told of a stream that was cut.
func half(cut, full wireTold) string {
	if len(cut.calls) > len(full.calls) || !reflect.DeepEqual(cut.calls, full.calls[:len(cut.calls):len(cut.calls)]) && len(cut.calls) > 0 {
		return fmt.Sprintf("told %v, of the whole %v", cut.calls, full.calls)
	}
	rest := full.answer.Calls()
	for _, c := range cut.answer.Calls() {
		at := slices.IndexFunc(rest, func(d tool.Call) bool { return reflect.DeepEqual(c, d) })
		if at < 0 {
			return fmt.Sprintf("the answer has call %s with %s, the whole has none such there", c.Name, c.Input)
		}
		rest = rest[at+1:]
	}
	if cut.err == nil && (full.err != nil || len(rest) > 0 || cut.answer.Stop != full.answer.Stop) {
		return "no error"
	}
	return ""
}
