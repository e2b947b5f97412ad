package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// request reads a recorded request, writes it again, and compares; then looks
// whether the vendor's SDK knows all that was written.
func (r *wireReport) request(f provider.Format, in wireInteraction) {
	r.requests++
	_, written, ok := r.again(f, in.Request.text)
	if !ok {
		return
	}
	recorded, err := wireNormal(f, []byte(in.Request.text))
	if err != nil {
		r.fault("request", "%v", err)
		return
	}
	got, err := wireNormal(f, written)
	if err != nil {
		r.fault("request", "written again: %v", err)
		return
	}
	if d := differences("", recorded, got); len(d) > 0 {
		r.fault("request", "written again it differs: %s", strings.Join(d, "; "))
	}
	r.known(f, in, written, "")
}

// again reads a request and writes it again.
func (r *wireReport) again(f provider.Format, body string) (request provider.Request, written []byte, ok bool) {
	result, panicked := caught(func() (err error) {
		if request, err = f.ReadRequest([]byte(body)); err == nil {
			written, err = f.WriteRequest(request)
		}
		return err
	})
	if result != nil || panicked != nil {
		r.fault("request", "error %v, %v", result, panicked)
		return request, nil, false
	}
	return request, written, true
}

// known looks for members that the vendor's SDK does not know. A server of others
// may have its own: they must stand in the recorded request, or in the answer that
// they go back with, and are counted.
func (r *wireReport) known(f provider.Format, in wireInteraction, written []byte, answer string) {
	unknown, err := unknownMembers(f, written)
	if err != nil {
		r.fault("sdk", "%v", err)
		return
	}
	theirs, err := unknownMembers(f, []byte(in.Request.text))
	if err != nil {
		r.fault("sdk", "recorded: %v", err)
		return
	}
	u, err := url.Parse(in.URL)
	vendors := err == nil && (u.Host == "api.openai.com" || u.Host == "api.anthropic.com")
	for _, m := range unknown {
		name := lastMember(m)
		told := bears(answer, name) || slices.ContainsFunc(theirs, func(t string) bool { return lastMember(t) == name })
		if told && !vendors && !strings.HasSuffix(m, "]") {
			r.members[name]++
			continue
		}
		r.unknown++
		r.fault("sdk", "%s is not known", m)
	}
}

// lastMember is the name of a member without the way to it.
func lastMember(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// followed looks at the request that followed an answer: the calls that it sends
// back are those decoded, and the request that we build from the answer and the
// recorded results says the same.
func (r *wireReport) followed(f provider.Format, a provider.Answer, in, next wireInteraction) {
	response := in.Response.text
	before, err1 := said(f, []byte(in.Request.text))
	after, err2 := said(f, []byte(next.Request.text))
	if err1 != nil || err2 != nil {
		return // told where the requests are looked at
	}
	if len(after) <= len(before) || !reflect.DeepEqual(before, after[:len(before)]) {
		return // another conversation
	}
	var expect []wireCall
	for _, s := range after[len(before):] {
		if s.Kind != "call" {
			continue
		}
		c := wireCall{ID: s.ID, Name: s.Name, Kind: "call", Arguments: &s.Text}
		if !bears(response, s.ID) {
			c.ID = "" // the client made it up
		}
		expect = append(expect, c)
	}
	r.sameCalls(a, expect, nil)

	first, _, ok1 := r.again(f, in.Request.text)
	second, _, ok2 := r.again(f, next.Request.text)
	if !ok1 || !ok2 {
		return
	}
	if a.Parts == nil || len(second.Messages) == 0 {
		return
	}
	r.built++
	results := second.Messages
	for i, m := range slices.Backward(results) {
		if m.Role == provider.Assistant {
			results = results[i+1:]
			break
		}
	}
	parts, replies := numbered(a.Parts, results, response)
	first.Messages = slices.Concat(first.Messages, []provider.Message{{Role: provider.Assistant, Parts: parts}}, replies)
	var built []byte
	result, panicked := caught(func() (err error) { built, err = f.WriteRequest(first); return err })
	if result != nil || panicked != nil {
		r.fault("built", "error %v, %v", result, panicked)
		return
	}
	got, err := said(f, built)
	if err != nil {
		r.fault("built", "%v", err)
		return
	}
	forgetMade(got, response)
	forgetMade(after, response)
	got = r.lessText(after, got)
	if d := differences("", plain(after), plain(got)); len(d) > 0 {
		r.fault("built", "it differs from what followed: %s", strings.Join(d, "; "))
	}
	tools := func(body []byte) any {
		n, err := wireNormal(f, body)
		if err != nil {
			return err.Error()
		}
		return n["tools"]
	}
	if d := differences("tools", tools([]byte(next.Request.text)), tools(built)); len(d) > 0 {
		r.fault("built", "its tools differ: %s", strings.Join(d, "; "))
	}
	r.known(f, next, built, response)
}

// sentBack builds the request that goes on after an answer, of which nothing but its
// events was recorded: each call has a result, and the SDK knows all of it.
func (r *wireReport) sentBack(f provider.Format, a provider.Answer, events []json.RawMessage) {
	parts, _ := numbered(a.Parts, nil, "")
	reply := provider.Message{Role: provider.User, Parts: []provider.Part{provider.Text("Go on.")}}
	if calls := (provider.Answer{Parts: parts}).Calls(); len(calls) > 0 {
		reply.Parts = nil
		for _, c := range calls {
			result := provider.ResultOf(c.ID, c.Name, tool.Result{Content: []tool.Content{tool.Text("Done.")}})
			reply.Parts = append(reply.Parts, provider.Part{Kind: provider.PartResult, Result: &result})
		}
	}
	var written []byte
	result, panicked := caught(func() (err error) {
		written, err = f.WriteRequest(provider.Request{Model: "m", System: "s", Messages: []provider.Message{
			{Role: provider.User, Parts: []provider.Part{provider.Text("Begin.")}}, {Role: provider.Assistant, Parts: parts}, reply,
		}})
		return err
	})
	if result != nil || panicked != nil {
		r.fault("built", "error %v, %v", result, panicked)
		return
	}
	r.built++
	var answer strings.Builder
	for _, e := range events {
		answer.Write(e)
	}
	r.known(f, wireInteraction{Request: wireBody{text: "{}"}}, written, answer.String())
}

// numbered gives an id to calls of an answer without one, as a loop does, and to the
// results in their order, where the client made up its own.
func numbered(answer []provider.Part, results []provider.Message, response string) (parts []provider.Part, replies []provider.Message) {
	parts = slices.Clone(answer)
	var ids []string
	for i, p := range parts {
		if p.Kind != provider.PartCall || p.Call == nil {
			continue
		}
		c := *p.Call
		if c.ID == "" {
			c.ID = fmt.Sprintf("numbered-%d", i)
		}
		parts[i].Call = &c
		ids = append(ids, c.ID)
	}
	for _, m := range results {
		m.Parts = slices.Clone(m.Parts)
		for i, p := range m.Parts {
			if p.Kind != provider.PartResult || p.Result == nil || len(ids) == 0 {
				continue
			}
			if !bears(response, p.Result.CallID) {
				own := *p.Result
				own.CallID = ids[0]
				m.Parts[i].Result, m.Parts[i].Own = &own, nil
			}
			ids = ids[1:]
		}
		replies = append(replies, m)
	}
	return parts, replies
}

// lessText explains where a client sent back a part of the model's text only, as some
// do where text and calls alternate, and puts that part in place of what we send.
func (r *wireReport) lessText(want, got []saying) []saying {
	var out []saying
	for i, s := range got {
		at := len(out)
		if s.Kind == "assistant" && at < len(want) && want[at] != s {
			less := ""
			if want[at].Kind == s.Kind {
				less = want[at].Text
			}
			if strings.Contains(s.Text, less) {
				r.explain(fmt.Sprintf("we send %q, the client sent %q", s.Text, less), "the client left out text of the model")
				if got[i].Text = less; less == "" {
					continue
				}
			}
		}
		out = append(out, got[i])
	}
	return out
}

// bears reports whether an answer has an id; clients make up ids where there are none.
func bears(response, id string) bool { return id != "" && strings.Contains(response, `"`+id+`"`) }

// forgetMade takes away ids that an answer does not have.
func forgetMade(s []saying, response string) {
	for i := range s {
		if !bears(response, s[i].ID) {
			s[i].ID = ""
		}
	}
}

func plain(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		return err.Error()
	}
	return out
}

// differences are the places where two values of JSON differ, at most five.
func differences(path string, want, got any) []string {
	var out []string
	note := func(format string, args ...any) {
		if len(out) < 5 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			note("%s: got %s, want an object", path, brief(got))
			break
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if _, ok := g[k]; !ok {
				note("%s.%s: missing, want %s", path, k, brief(w[k]))
				continue
			}
			for _, d := range differences(path+"."+k, w[k], g[k]) {
				note("%s", d)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[k]; !ok {
				note("%s.%s: got %s, want none", path, k, brief(g[k]))
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			note("%s: got %s, want a list", path, brief(got))
			break
		}
		if len(g) != len(w) {
			note("%s: got %d, want %d: %s", path, len(g), len(w), brief(got))
			break
		}
		for i := range w {
			for _, d := range differences(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]) {
				note("%s", d)
			}
		}
	default:
		if !reflect.DeepEqual(want, got) {
			note("%s: got %s, want %s", path, brief(got), brief(want))
		}
	}
	return out
}

func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(text) > 160 {
		text = append(bytes.Clone(text[:160]), "…"...)
	}
	return string(text)
}
