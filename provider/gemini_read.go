package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// geminiContent is a message.
type geminiContent struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

// ReadRequest reads the body of generateContent. Calls and results without an id get
// one: results belong to the calls of their name, in order.
func (f Gemini) ReadRequest(body []byte) (Request, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return Request{}, fmt.Errorf("request: %w", err)
	}
	var r Request
	var contents []geminiContent
	var system geminiContent
	var tools []json.RawMessage
	for _, m := range []struct {
		name, other string // the API takes both
		into        any
	}{
		{"model", "model", &r.Model},
		{"contents", "contents", &contents},
		{"systemInstruction", "system_instruction", &system},
		{"tools", "tools", &tools},
	} {
		v := take(members, m.name)
		if v == nil {
			v = take(members, m.other)
		}
		if v == nil {
			continue
		}
		if err := json.Unmarshal(v, m.into); err != nil {
			return Request{}, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	var err error
	if r.System, err = readGeminiSystem(system); err != nil {
		return Request{}, fmt.Errorf("systemInstruction: %w", err)
	}
	if r.Tools, err = readGeminiTools(tools); err != nil {
		return Request{}, fmt.Errorf("tools: %w", err)
	}
	readGeminiConfig(members, &r)
	ids := geminiIDs{}
	for i, c := range contents {
		m := Message{Role: User}
		if c.Role == "model" {
			m.Role = Assistant
		}
		for j, text := range c.Parts {
			p, err := readGeminiPart(text)
			if err != nil {
				return Request{}, fmt.Errorf("message %d: part %d: %w", i+1, j+1, err)
			}
			ids.give(&p)
			m.Parts = append(m.Parts, p)
		}
		r.Messages = append(r.Messages, m)
	}
	if len(members) > 0 {
		r.Extra = members
	}
	return r, nil
}

// geminiIDs gives ids to calls and results that came without.
type geminiIDs struct {
	calls   int
	waiting []Part // calls without a result
}

func (g *geminiIDs) give(p *Part) {
	switch p.Kind {
	case PartCall:
		g.calls++
		if p.Call.ID == "" {
			p.Call.ID = fmt.Sprintf("call_%d", g.calls)
		}
		g.waiting = append(g.waiting, *p)
	case PartResult:
		i := slices.IndexFunc(g.waiting, func(c Part) bool {
			return c.Call.ID == p.Result.CallID || p.Result.CallID == "" && c.Call.Name == p.Result.Name
		})
		if i >= 0 {
			p.Result.CallID = g.waiting[i].Call.ID
			g.waiting = slices.Delete(g.waiting, i, i+1)
		}
	case PartText, PartMedia, PartThought, PartRefusal, PartOwn:
	}
}

// readGeminiPart reads one part of content.
func readGeminiPart(text json.RawMessage) (Part, error) {
	if !isObject(text) {
		return Part{}, fmt.Errorf("got %.40q, want an object", text)
	}
	var g geminiPart
	if err := json.Unmarshal(text, &g); err != nil {
		return Part{}, err
	}
	return g.part(text), nil
}

// readGeminiSystem reads the system text; more than one part are joined.
func readGeminiSystem(c geminiContent) (string, error) {
	var texts []string
	for _, text := range c.Parts {
		p, err := readGeminiPart(text)
		if err != nil {
			return "", err
		}
		if p.Kind == PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// readGeminiTools reads tools: functions each by itself, as Render writes them, and
// those that run at the provider behind them.
func readGeminiTools(tools []json.RawMessage) (json.RawMessage, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var functions, others []json.RawMessage
	for _, t := range tools {
		var list struct {
			Functions []json.RawMessage `json:"functionDeclarations"`
		}
		if err := json.Unmarshal(t, &list); err != nil {
			return nil, err
		}
		functions = append(functions, list.Functions...)
		rest := t
		if len(list.Functions) > 0 {
			rest = withMember(t, "functionDeclarations", nil)
		}
		if string(rest) != "{}" {
			others = append(others, rest)
		}
	}
	var w writer
	w.open('[')
	for _, t := range append(functions, others...) {
		w.raw(t)
	}
	w.close(']')
	return json.RawMessage(w), nil
}

// readGeminiConfig reads the limit of tokens and the choice of tools; what stands
// beside them stays in members.
func readGeminiConfig(members map[string]json.RawMessage, r *Request) {
	var limit struct {
		Max int `json:"maxOutputTokens"`
	}
	if v := members["generationConfig"]; isObject(v) && json.Unmarshal(v, &limit) == nil && limit.Max > 0 {
		r.MaxTokens = limit.Max
		keepRest(members, "generationConfig", "maxOutputTokens")
	}
	var choice struct {
		Config json.RawMessage `json:"functionCallingConfig"`
	}
	v := members["toolConfig"]
	if !isObject(v) || json.Unmarshal(v, &choice) != nil || !isObject(choice.Config) {
		return
	}
	var c struct {
		Mode  string   `json:"mode"`
		Names []string `json:"allowedFunctionNames"`
	}
	n := 0
	_ = eachMember(choice.Config, func(name string, _ json.RawMessage) {
		if name != "mode" && name != "allowedFunctionNames" {
			n++
		}
	})
	if n > 0 || json.Unmarshal(choice.Config, &c) != nil {
		return
	}
	switch {
	case c.Mode == "ANY" && len(c.Names) == 1:
		r.Choice = Choice{Mode: "tool", Name: c.Names[0]}
	case len(c.Names) > 0: // a choice among some
		return
	case c.Mode == "ANY", c.Mode == "NONE", c.Mode == "AUTO":
		r.Choice.Mode = strings.ToLower(c.Mode)
	default:
		return
	}
	keepRest(members, "toolConfig", "functionCallingConfig")
}

// keepRest takes a member out of one of the members, and that too if nothing is left.
func keepRest(members map[string]json.RawMessage, name, inner string) {
	rest := withMember(members[name], inner, nil)
	if string(rest) == "{}" {
		delete(members, name)
		return
	}
	members[name] = rest
}

// geminiAnswer is an answer, or a piece of one in a stream.
type geminiAnswer struct {
	Candidates []struct {
		Index         int           `json:"index"`
		Content       geminiContent `json:"content"`
		FinishReason  string        `json:"finishReason"`
		FinishMessage string        `json:"finishMessage"`
	} `json:"candidates"`
	Feedback *struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		ToolPrompt int `json:"toolUsePromptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	ID    string          `json:"responseId"`
	Error json.RawMessage `json:"error"`
}

// geminiStop is why an answer ends, but for calls.
func geminiStop(reason string) Stop {
	switch reason {
	case "STOP":
		return StopEnd
	case "MAX_TOKENS":
		return StopLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return StopRefusal
	}
	return StopOther
}

// ReadAnswer reads the answer of generateContent. Of several candidates the first
// counts.
func (Gemini) ReadAnswer(body []byte) (Answer, error) {
	s := geminiStream{told: func(Delta) {}}
	if err := s.piece("", body); err != nil {
		return Answer{}, err
	}
	return s.end(true), nil
}
