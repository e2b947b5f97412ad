package provider

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Anthropic is the Messages API of Anthropic, as it is spoken by api.anthropic.com and,
// with the model in the address, by Bedrock and Vertex AI.
//
// A request leaves out what the API refuses: thoughts without their signature, text
// without a letter, white space behind a last text of the assistant. Neighbours of one
// role are joined, and results stand first. A call whose input is no object is sent
// with the input as text in an object; a failed result keeps its images beside it.
type Anthropic struct{}

// anthropicTokens is the limit of an answer where a request names none: the API wants
// one.
const anthropicTokens = 8192

// anthropicMarks is how many marks of the cache a request may have.
const anthropicMarks = 4

const anthropicMark = `{"type":"ephemeral"}`

// String is anthropic.
func (Anthropic) String() string { return "anthropic" }

// WriteRequest writes the body of POST /v1/messages.
func (f Anthropic) WriteRequest(r Request) ([]byte, error) {
	b, err := newBody(r.Extra)
	if err != nil {
		return nil, err
	}
	marks := 0
	if r.Cache {
		marks = anthropicMarks - marksIn(r)
	}
	if r.Model != "" && b.wants("model") {
		b.text("model", r.Model)
	}
	if b.wants("max_tokens") {
		limit := r.MaxTokens
		if limit <= 0 {
			limit = anthropicTokens
		}
		b.number("max_tokens", limit)
	}
	if r.Stream && b.wants("stream") {
		b.flag("stream", true)
	}
	tools := r.Tools
	some, err := someTools(tools)
	if err != nil {
		return nil, err
	}
	if some && b.wants("tools") {
		if last := markTools(tools); marks > 0 && last != nil {
			tools = last
			marks--
		}
		b.member("tools", tools)
		if choice := anthropicChoice(r.Choice); choice != nil && b.wants("tool_choice") { // refused without tools
			b.member("tool_choice", choice)
		}
	}
	if !blank(r.System) && b.wants("system") {
		b.name("system")
		if marks > 0 {
			b.open('[')
			b.block(r.System, true)
			b.close(']')
			marks--
		} else {
			b.string(r.System)
		}
	}
	if b.wants("messages") {
		b.name("messages")
		f.writeMessages(&b.writer, r.Messages, min(marks, 2))
	}
	return b.end(), nil
}

// anthropicChoice is the tool_choice of a request, or nil.
func anthropicChoice(c Choice) []byte {
	var w writer
	w.open('{')
	switch c.Mode {
	case "any", "none":
		w.text("type", c.Mode)
	case "tool":
		w.text("type", "tool")
		w.text("name", c.Name)
	default:
		if c.Mode == "" && !c.Alone {
			return nil
		}
		w.text("type", "auto")
	}
	if c.Alone && c.Mode != "none" {
		w.flag("disable_parallel_tool_use", true)
	}
	w.close('}')
	return w
}

// marksIn counts the marks that a host set itself: in tools, extra members and parts
// that are Anthropic's own. It may count too many, never too few.
func marksIn(r Request) int {
	mark := []byte(`"cache_control"`)
	n := bytes.Count(r.Tools, mark)
	for _, v := range r.Extra {
		n += bytes.Count(v, mark)
	}
	for _, m := range r.Messages {
		for i := range m.Parts {
			n += bytes.Count(m.Parts[i].own("anthropic"), mark)
		}
	}
	return n
}

// markTools marks the last tool. Where tools are marked already, or some are loaded
// later and must not be marked, it is nil: the mark behind the system text holds the
// tools as well.
func markTools(tools []byte) []byte {
	last := bytes.LastIndexByte(tools, '}')
	if last < 0 || bytes.Contains(tools, []byte(`"cache_control"`)) || bytes.Contains(tools, []byte(`"defer_loading"`)) {
		return nil
	}
	return append(marked(tools[:last+1]), tools[last+1:]...)
}

// marked is JSON that ends with an object, with a mark at the end of that.
func marked(text []byte) []byte {
	head, _ := bytes.CutSuffix(bytes.TrimSpace(text), []byte("}"))
	w := append(make(writer, 0, len(text)+64), bytes.TrimSpace(head)...)
	w.member("cache_control", []byte(anthropicMark))
	w.close('}')
	return w
}

// block writes a block of text.
func (w *writer) block(text string, mark bool) {
	w.open('{')
	w.text("type", "text")
	w.text("text", text)
	if mark {
		w.member("cache_control", []byte(anthropicMark))
	}
	w.close('}')
}

// writeMessages writes the array of messages; the last marks of those of the user are
// marked for the cache.
func (f Anthropic) writeMessages(w *writer, messages []Message, marks int) {
	all := turns(messages)
	blocks := make([][]json.RawMessage, len(all))
	done := anthropicDone(all)
	for i, m := range all {
		if m.Role == Assistant {
			m.Parts = f.sendable(m.Parts, done, i == len(all)-1)
		}
		results := 0
		for results < len(m.Parts) && m.Parts[results].Kind == PartResult {
			results++
		}
		for j := range m.Parts {
			if j == results {
				blocks[i] = besideResults(blocks[i], m.Parts[:results])
			}
			blocks[i] = f.appendBlocks(blocks[i], m.Role, &m.Parts[j])
		}
		if results == len(m.Parts) {
			blocks[i] = besideResults(blocks[i], m.Parts)
		}
	}
	if n := len(all); n > 0 && all[n-1].Role == Assistant {
		blocks[n-1] = trimLast(blocks[n-1])
	}
	from := len(all) // the first message that is marked
	for i := len(all) - 1; i >= 0 && marks > 0; i-- {
		if all[i].Role != Assistant && len(blocks[i]) > 0 {
			from = i
			marks--
		}
	}
	w.open('[')
	last := Role("")
	for i, m := range all {
		if len(blocks[i]) == 0 {
			continue
		}
		role := User
		if m.Role == Assistant {
			role = Assistant
		}
		if role == last { // what stood between was left out
			*w = (*w)[:len(*w)-len("]}")]
		} else {
			w.open('{')
			w.text("role", string(role))
			w.name("content")
			w.open('[')
		}
		last = role
		for j, block := range blocks[i] {
			if i >= from && role == User && j == len(blocks[i])-1 && !bytes.Contains(block, []byte(`"cache_control"`)) {
				block = marked(block)
			}
			w.raw(block)
		}
		w.close(']')
		w.close('}')
	}
	w.close(']')
}

// anthropicDone are the ids of calls that ran at the provider: those that have a result,
// or that called tools of ours and wait for them.
func anthropicDone(messages []Message) map[string]bool {
	done := map[string]bool{}
	for _, m := range messages {
		for i := range m.Parts {
			own := m.Parts[i].own("anthropic")
			if own == nil || m.Role != Assistant {
				continue
			}
			b := anthropicBlockOf(own)
			if strings.HasSuffix(b.Type, "_tool_result") {
				done[b.ToolUseID] = true
			}
			if b.Caller != nil && b.Caller.ToolID != "" {
				done[b.Caller.ToolID] = true
			}
		}
	}
	return done
}

// sendable are the parts of the assistant without those that the API would refuse, which
// stand where an answer was cut off: a call that runs at the provider and has no result,
// unless the provider is to go on with it, and thoughts at the end.
func (f Anthropic) sendable(parts []Part, done map[string]bool, last bool) []Part {
	out := make([]Part, 0, len(parts))
	end := 0 // behind what is no thought
	for i := range parts {
		p := &parts[i]
		b := anthropicBlock{Type: string(p.Kind)}
		if own := p.own("anthropic"); own != nil && p.Kind == PartOwn {
			b = anthropicBlockOf(own)
		}
		switch b.Type {
		case "server_tool_use", "mcp_tool_use":
			if !last && !done[b.ID] {
				continue
			}
		}
		out = append(out, *p)
		if b.Type != string(PartThought) && b.Type != "redacted_thinking" && len(f.appendBlocks(nil, Assistant, p)) > 0 {
			end = len(out)
		}
	}
	return out[:end]
}

// trimLast takes the white space from the end of a last text of the assistant, which
// the API refuses.
func trimLast(blocks []json.RawMessage) []json.RawMessage {
	for len(blocks) > 0 {
		n := len(blocks) - 1
		var b anthropicBlock
		if json.Unmarshal(blocks[n], &b) != nil || b.Type != "text" {
			return blocks
		}
		text := strings.TrimRight(b.Text, " \t\r\n\v\f\u0085\u00a0")
		if text == b.Text {
			return blocks
		}
		if !blank(text) {
			blocks[n] = withMember(blocks[n], "text", quoted(text))
			return blocks
		}
		blocks = blocks[:n]
	}
	return blocks
}
