package provider

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatUsage are the tokens of an answer. Cached ones are part of the prompt.
type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	In         struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Hit     int `json:"prompt_cache_hit_tokens"`     // DeepSeek
	Created int `json:"cache_creation_input_tokens"` // gateways to Anthropic
}

func (u *chatUsage) usage() Usage {
	out := Usage{
		Input: u.Prompt, Output: u.Completion, CacheRead: max(u.In.Cached, u.Hit),
		CacheWrite: max(u.In.Written, u.Created), Thought: u.Out.Reasoning,
	}
	if out.Thought > 0 && u.Total == out.Input+out.Output+out.Thought {
		out.Output += out.Thought // xAI counts thoughts beside the rest
	}
	return out
}

func writeChatUsage(w *writer, u Usage) {
	w.name("usage")
	w.open('{')
	w.number("prompt_tokens", u.Input)
	w.number("completion_tokens", u.Output)
	w.number("total_tokens", u.Input+u.Output)
	w.name("prompt_tokens_details")
	w.open('{')
	w.number("cached_tokens", u.CacheRead)
	if u.CacheWrite > 0 {
		w.number("cache_write_tokens", u.CacheWrite)
	}
	w.close('}')
	w.name("completion_tokens_details")
	w.open('{')
	w.number("reasoning_tokens", u.Thought)
	w.close('}')
	w.close('}')
}

// chatStop is why an answer ended, and whether all that it holds is whole. Where it
// was cut short, and where the reason is not known, the last call may be half a call.
func chatStop(reason string) (stop Stop, whole bool) {
	switch strings.ToLower(reason) {
	case "stop", "tool_calls", "function_call", "end_turn", "tool_use", "eos", "eos_token", "stop_sequence", "tool_call":
		return StopEnd, true
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return StopLength, false
	case "content_filter", "sensitive", "safety", "refusal":
		return StopRefusal, false
	}
	return StopOther, false
}

// settle is the reason once the parts are known: servers say stop with calls too.
func settle(stop Stop, parts []Part) Stop {
	if stop != StopEnd {
		return stop
	}
	for i := range parts {
		if parts[i].Kind == PartCall {
			return StopCalls
		}
		if parts[i].Kind == PartRefusal {
			stop = StopRefusal
		}
	}
	return stop
}

// chatReason is what a stop is called.
func chatReason(a Answer) string {
	switch a.Stop {
	case StopCalls:
		return "tool_calls"
	case StopLength:
		return "length"
	case StopRefusal:
		if settle(StopEnd, a.Parts) == StopRefusal {
			return "stop"
		}
		return "content_filter"
	case StopEnd:
		return "stop"
	case StopPause, StopOther:
	}
	return "other"
}

// chatAnswer is an answer, or a piece of one.
type chatAnswer struct {
	ID      loose           `json:"id"`
	Model   loose           `json:"model"`
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Groq    *chatGroq       `json:"x_groq"`
	Error   json.RawMessage `json:"error"`
}

type chatGroq struct {
	Usage *chatUsage `json:"usage"`
}

// chatChoice is one of the answers that were asked for. Only the first counts.
type chatChoice struct {
	Index   int          `json:"index"`
	Delta   *chatMessage `json:"delta"`
	Message *chatMessage `json:"message"`
	Text    loose        `json:"text"` // of servers that only complete text
	Reason  loose        `json:"finish_reason"`
}

// ReadAnswer reads an answer of /chat/completions.
func (f Chat) ReadAnswer(body []byte) (Answer, error) {
	var in chatAnswer
	if err := json.Unmarshal(body, &in); err != nil {
		return Answer{}, fmt.Errorf("answer: %w", err)
	}
	if given(in.Error) || len(in.Choices) == 0 {
		if e := ReadError(0, nil, body); given(in.Error) || e.Code != "" && isObject(body) {
			return Answer{}, e
		}
		return Answer{}, fmt.Errorf("answer: got no choices in %.80q, want one", body)
	}
	a := Answer{ID: string(in.ID), Model: string(in.Model)}
	if in.Usage != nil {
		a.Usage = in.Usage.usage()
	}
	choice := &in.Choices[0]
	if choice.Message == nil && choice.Text != "" {
		choice.Message = &chatMessage{Content: chatContent{text: string(choice.Text)}}
	}
	if choice.Message == nil {
		return a, fmt.Errorf("answer: got a choice without a message, want one")
	}
	stop, whole := chatStop(string(choice.Reason))
	if choice.Reason == "" {
		stop, whole = StopEnd, true // an answer that is not streamed is all there
	}
	var err error
	if a.Parts, err = choice.Message.parts(whole); err != nil {
		return a, fmt.Errorf("answer: %w", err)
	}
	a.Stop = settle(stop, a.Parts)
	return a, nil
}

// WriteAnswer writes an answer of /chat/completions.
func (f Chat) WriteAnswer(a Answer) ([]byte, error) {
	var w writer
	w.open('{')
	chatHead(&w, a, "chat.completion")
	w.name("choices")
	w.open('[')
	w.open('{')
	w.number("index", 0)
	w.name("message")
	w.open('{')
	w.text("role", "assistant")
	var m writer
	f.assistantMembers(&m, a.Parts, true)
	w.raw(m)
	w.close('}')
	w.text("finish_reason", chatReason(a))
	w.close('}')
	w.close(']')
	writeChatUsage(&w, a.Usage)
	w.close('}')
	return w, nil
}

func chatHead(w *writer, a Answer, object string) {
	w.text("id", a.ID)
	w.text("object", object)
	w.number("created", 0)
	w.text("model", a.Model)
}

// WriteStream writes an answer as /chat/completions streams it.
func (f Chat) WriteStream(a Answer) ([]byte, error) {
	var out []byte
	chunk := func(delta func(w *writer), reason string) {
		var w writer
		w.open('{')
		chatHead(&w, a, "chat.completion.chunk")
		w.name("choices")
		w.open('[')
		w.open('{')
		w.number("index", 0)
		w.name("delta")
		w.open('{')
		delta(&w)
		w.close('}')
		if reason == "" {
			w.member("finish_reason", []byte("null"))
		} else {
			w.text("finish_reason", reason)
		}
		w.close('}')
		w.close(']')
		w.close('}')
		out = writeEvent(out, "", oneLine(json.RawMessage(w)))
	}
	chunk(func(w *writer) { w.text("role", "assistant"); w.text("content", "") }, "")
	f.streamSaid(a.Parts, func(delta func(w *writer)) { chunk(delta, "") })
	chunk(func(*writer) {}, chatReason(a))
	var w writer
	w.open('{')
	chatHead(&w, a, "chat.completion.chunk")
	w.member("choices", []byte("[]"))
	writeChatUsage(&w, a.Usage)
	w.close('}')
	return writeEvent(writeEvent(out, "", w), "", []byte("[DONE]")), nil
}

// streamSaid tells the parts piece by piece.
func (f Chat) streamSaid(parts []Part, chunk func(func(w *writer))) {
	text := func(name, s string) {
		if s == "" {
			return
		}
		for _, piece := range pieces(s) {
			chunk(func(w *writer) { w.text(name, piece) })
		}
	}
	n := 0
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case PartText:
			text("content", p.Text)
		case PartRefusal:
			text("refusal", p.Text)
		case PartThought:
			own := p.own(f.String())
			if own == nil {
				text("reasoning_content", p.Text)
				continue
			}
			_ = eachMember(own, func(name string, v json.RawMessage) { // it is an object
				if s := jsonText(v); s != "" {
					text(name, s)
				} else {
					chunk(func(w *writer) { w.member(name, v) })
				}
			})
		case PartCall:
			if p.Call != nil {
				f.streamCall(p, n, chunk)
				n++
			}
		case PartMedia, PartResult, PartOwn:
		}
	}
}

// streamCall tells a call: its name first, then its arguments.
func (f Chat) streamCall(p *Part, index int, chunk func(func(w *writer))) {
	one := func(members func(w *writer)) {
		chunk(func(w *writer) {
			w.name("tool_calls")
			w.open('[')
			w.open('{')
			w.number("index", index)
			members(w)
			w.close('}')
			w.close(']')
		})
	}
	one(func(w *writer) {
		w.text("id", p.Call.ID)
		w.text("type", "function")
		w.member("function", []byte(`{"name":`+string(quoted(p.Call.Name))+`,"arguments":""}`))
		if own := p.own(f.String()); own != nil {
			_ = eachMember(own, func(name string, v json.RawMessage) { // it is an object
				if name == "extra_content" {
					w.member(name, v)
				}
			})
		}
	})
	for _, piece := range pieces(argumentsOf(p.Call.Input)) {
		one(func(w *writer) { w.member("function", []byte(`{"arguments":`+string(quoted(piece))+`}`)) })
	}
}
