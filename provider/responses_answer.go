package provider

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// responsesAnswer is an answer, or what is known of one while it comes.
type responsesAnswer struct {
	ID         loose             `json:"id"`
	Model      loose             `json:"model"`
	Object     loose             `json:"object"`
	Status     loose             `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Usage      *responsesUsage   `json:"usage"`
	Error      json.RawMessage   `json:"error"`
	Incomplete *struct {
		Reason loose `json:"reason"`
	} `json:"incomplete_details"`
}

// responsesUsage are the tokens of an answer. Cached ones are part of the input,
// thoughts of the output.
type responsesUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	In     struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Out struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) usage() Usage {
	return Usage{Input: u.Input, Output: u.Output, CacheRead: u.In.Cached, CacheWrite: u.In.Written, Thought: u.Out.Reasoning}
}

// stop is why the answer ended, and whether it was not cut short.
func (a *responsesAnswer) stop() (stop Stop, whole bool) {
	if a.Status == "completed" || a.Status == "" && a.Incomplete == nil {
		return StopEnd, true
	}
	if a.Incomplete != nil {
		switch a.Incomplete.Reason {
		case "max_output_tokens", "max_tokens", "length":
			return StopLength, false
		case "content_filter":
			return StopRefusal, false
		}
	}
	return StopOther, false
}

// error is what went wrong, if the answer says so.
func (a *responsesAnswer) error() *Error {
	switch {
	case given(a.Error):
		return ReadError(0, nil, []byte(`{"error":`+string(a.Error)+`}`))
	case a.Status == "failed", a.Status == "cancelled":
		return &Error{Code: string(a.Status), Text: "the provider gave no reason"}
	}
	return nil
}

// ReadAnswer reads an answer of /responses. Of one that was cut short, only calls count
// that cannot be half ones.
func (f Responses) ReadAnswer(body []byte) (Answer, error) {
	var in responsesAnswer
	if err := json.Unmarshal(body, &in); err != nil {
		return Answer{}, fmt.Errorf("answer: %w", err)
	}
	if e := in.error(); e != nil {
		return Answer{}, e
	}
	if in.Output == nil {
		if e := ReadError(0, nil, body); e.Code != "" && in.Object != "response" {
			return Answer{}, e
		}
		return Answer{}, fmt.Errorf("answer: got no output in %.80q, want a list", body)
	}
	a := Answer{ID: string(in.ID), Model: string(in.Model)}
	if in.Usage != nil {
		a.Usage = in.Usage.usage()
	}
	stop, whole := in.stop()
	thought := false
	for i, raw := range in.Output {
		it, err := readItem(raw)
		if err != nil {
			return a, fmt.Errorf("output item %d: %w", i, err)
		}
		if it.Type == "function_call" && !it.whole(whole) {
			continue
		}
		a.Parts = append(a.Parts, it.parts(thought)...)
		thought = thought || it.Type == "reasoning"
	}
	a.Stop = settle(stop, a.Parts)
	return a, nil
}

// whole tells whether a call is one. The provider says so; where it does not, the
// answer must have come to its end, or the arguments be closed: an object without its
// last brace is no JSON. One of which no argument has come may be about to get some.
func (it *responsesItem) whole(answer bool) bool {
	switch {
	case it.Name == "" || it.Status == "incomplete":
		return false
	case answer || it.Status == "completed":
		return true
	}
	return closed(string(it.Arguments))
}

// WriteAnswer writes an answer of /responses.
func (f Responses) WriteAnswer(a Answer) ([]byte, error) {
	return f.writeAnswer(a, f.items(a)), nil
}

// items are the parts of an answer as items, as they are where they are the provider's.
func (f Responses) items(a Answer) []json.RawMessage {
	var items []json.RawMessage
	for i := range a.Parts {
		p := &a.Parts[i]
		if own := p.own(f.String()); own != nil {
			if it, err := readItem(own); err == nil && (p.Kind == PartOwn || it.holds(p)) {
				items = append(items, own)
				continue
			}
		}
		if item := f.responsesPart(p, a.ID+"_"+strconv.Itoa(i)); item != nil {
			items = append(items, item)
		}
	}
	return items
}

func (f Responses) writeAnswer(a Answer, items []json.RawMessage) []byte {
	var w writer
	w.open('{')
	w.text("id", a.ID)
	w.text("object", "response")
	w.number("created_at", 0)
	status, reason := responsesStatus(a)
	w.text("status", status)
	w.member("error", []byte("null"))
	if reason == "" {
		w.member("incomplete_details", []byte("null"))
	} else {
		w.member("incomplete_details", []byte(`{"reason":`+string(quoted(reason))+`}`))
	}
	w.text("model", a.Model)
	writeList(&w, "output", items)
	w.name("usage")
	w.open('{')
	w.number("input_tokens", a.Usage.Input)
	w.name("input_tokens_details")
	w.open('{')
	w.number("cached_tokens", a.Usage.CacheRead)
	if a.Usage.CacheWrite > 0 {
		w.number("cache_write_tokens", a.Usage.CacheWrite)
	}
	w.close('}')
	w.number("output_tokens", a.Usage.Output)
	w.member("output_tokens_details", []byte(`{"reasoning_tokens":`+strconv.Itoa(a.Usage.Thought)+`}`))
	w.number("total_tokens", a.Usage.Input+a.Usage.Output)
	w.close('}')
	w.close('}')
	return w
}

// responsesStatus is what a stop is called, and why it is incomplete.
func responsesStatus(a Answer) (status, reason string) {
	switch a.Stop {
	case StopEnd, StopCalls:
		return "completed", ""
	case StopLength:
		return "incomplete", "max_output_tokens"
	case StopRefusal:
		if settle(StopEnd, a.Parts) == StopRefusal {
			return "completed", ""
		}
		return "incomplete", "content_filter"
	case StopPause, StopOther:
	}
	return "incomplete", "other"
}
