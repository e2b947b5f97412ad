package provider

import "encoding/json"

// WriteAnswer writes the answer of generateContent.
func (f Gemini) WriteAnswer(a Answer) ([]byte, error) {
	var parts writer
	said, why := refusalApart(a)
	for i := range said {
		f.answerPart(&parts, &said[i])
	}
	return geminiPiece(a, parts, true, why), nil
}

// geminiPiece is an answer, or a piece of one; the last says why it ends.
func geminiPiece(a Answer, parts writer, last bool, why string) []byte {
	var w writer
	w.open('{')
	w.name("candidates")
	w.open('[')
	w.open('{')
	w.name("content")
	w.open('{')
	w.text("role", "model")
	w.name("parts")
	w.open('[')
	w = append(append(w, parts...), "]}"...)
	if last {
		if reason := geminiReason(a.Stop); reason != "" {
			w.text("finishReason", reason)
		}
		if why != "" {
			w.text("finishMessage", why)
		}
	}
	w.number("index", 0)
	w.close('}')
	w.close(']')
	if last {
		u := a.Usage
		w.name("usageMetadata")
		w.open('{')
		w.number("promptTokenCount", u.Input)
		if u.CacheRead != 0 {
			w.number("cachedContentTokenCount", u.CacheRead)
		}
		w.number("candidatesTokenCount", u.Output-u.Thought)
		if u.Thought != 0 {
			w.number("thoughtsTokenCount", u.Thought)
		}
		w.number("totalTokenCount", u.Input+u.Output)
		w.close('}')
	}
	w.text("modelVersion", a.Model)
	w.text("responseId", a.ID)
	w.close('}')
	return w
}

// geminiReason is the word for why an answer ends.
func geminiReason(s Stop) string {
	switch s {
	case StopEnd, StopCalls:
		return "STOP"
	case StopLength:
		return "MAX_TOKENS"
	case StopRefusal:
		return "SAFETY"
	case StopPause, StopOther:
		return "OTHER"
	}
	return ""
}

// answerPart writes a part of an answer. Unlike in a request, nothing is left out
// that the model said.
func (f Gemini) answerPart(w *writer, p *Part) {
	own := p.own("gemini")
	switch {
	case own != nil:
		w.raw(oneLine(own))
	case p.Kind == PartThought:
		geminiText(w, p.Text, true)
	case p.Kind == PartCall && p.Call != nil:
		w.open('{')
		geminiCall(w, p.Call.ID, p.Call.Name, oneLine(json.RawMessage(inputObject(p.Call.Input))))
		w.close('}')
	default:
		f.writePart(w, p, &geminiCalls{})
	}
}

func geminiText(w *writer, text string, thought bool) {
	w.open('{')
	w.text("text", text)
	if thought {
		w.flag("thought", true)
	}
	w.close('}')
}

// WriteStream writes the answer as the events of streamGenerateContent.
func (f Gemini) WriteStream(a Answer) ([]byte, error) {
	var out []byte
	said, why := refusalApart(a)
	for i := range said {
		p := &said[i]
		if p.own("gemini") == nil && (p.Kind == PartText || p.Kind == PartThought) {
			for _, text := range pieces(p.Text) {
				var w writer
				geminiText(&w, text, p.Kind == PartThought)
				out = writeEvent(out, "", geminiPiece(a, w, false, ""))
			}
			continue
		}
		var w writer
		f.answerPart(&w, p)
		if len(w) > 0 {
			out = writeEvent(out, "", geminiPiece(a, w, false, ""))
		}
	}
	var w writer
	geminiText(&w, "", false)
	return writeEvent(out, "", geminiPiece(a, w, true, why)), nil
}
