package adopt

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
)

// vendor is a server that gives one answer after another, and keeps what it was
// asked.
type vendor struct {
	url string

	mu    sync.Mutex
	asked []string
}

func newVendor(t *testing.T, answers ...string) *vendor {
	t.Helper()
	v := new(vendor)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		v.mu.Lock()
		defer v.mu.Unlock()
		if n := len(v.asked); err == nil && n < len(answers) {
			v.asked = append(v.asked, string(body))
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, answers[n])
			return
		}
		http.Error(w, "asked too often", http.StatusBadRequest)
	}))
	t.Cleanup(s.Close)
	v.url = s.URL
	return v
}

// wantTools wants the tools of the world in the first request.
func (v *vendor) wantTools(t *testing.T, name func(json.RawMessage) string) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	var first struct{ Tools []json.RawMessage }
	if err := json.Unmarshal([]byte(v.asked[0]), &first); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, each := range first.Tools {
		names = append(names, name(each))
		if !strings.Contains(string(each), `"description":"where"`) {
			t.Errorf("got the tool %s, want its input described", each)
		}
	}
	if got := strings.Join(names, " "); got != "weather burn novel" {
		t.Errorf("got the tools %s of %s, want weather burn novel", got, v.asked[0])
	}
}

// anthropicCalls and chatCalls are answers that make the calls that are asked for.
func anthropicCalls() string {
	parts := []map[string]any{{"type": "text", "text": "Let me look."}}
	for i, c := range asked {
		if json.Valid([]byte(c.input)) {
			parts = append(parts, map[string]any{"type": "tool_use", "id": fmt.Sprint("call_", i), "name": c.name, "input": json.RawMessage(c.input)})
		}
	}
	return asJSON(map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use", "content": parts})
}

func chatCalls() string {
	var calls []map[string]any
	for i, c := range asked {
		calls = append(calls, map[string]any{"id": fmt.Sprint("call_", i), "type": "function", "function": map[string]any{"name": c.name, "arguments": c.input}})
	}
	return chatAnswer(map[string]any{"role": "assistant", "content": nil, "tool_calls": calls})
}

func chatAnswer(message map[string]any) string {
	return asJSON(map[string]any{"id": "c", "object": "chat.completion", "model": "m", "choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": message}}})
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestWithAnthropic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := newVendor(t, anthropicCalls(), `{"id":"msg_2","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"It is sunny."}]}`)
	client := anthropic.NewClient(anthropicoption.WithBaseURL(v.url), anthropicoption.WithAPIKey("none"), anthropicoption.WithMaxRetries(0))
	answer, err := WithAnthropic(t.Context(), &client, w.session, anthropic.MessageNewParams{
		Model: "m", MaxTokens: 1000, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("How is it there?"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Content[0].Text; got != "It is sunny." {
		t.Errorf("got %q, want the last answer", got)
	}
	v.wantTools(t, func(text json.RawMessage) string {
		var named struct{ Name string }
		if err := json.Unmarshal(text, &named); err != nil {
			return err.Error()
		}
		return named.Name
	})
	var second struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type      string
				ToolUseID string `json:"tool_use_id"`
				IsError   bool   `json:"is_error"`
				Content   []struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal([]byte(v.asked[1]), &second); err != nil {
		t.Fatal(err)
	}
	results := second.Messages[len(second.Messages)-1].Content
	at := 0
	for i, c := range asked {
		if !json.Valid([]byte(c.input)) {
			continue // no provider that gives input as JSON could
		}
		r := results[at]
		at++
		failed := c.want != "sunny in Oslo" && c.name != "novel"
		if r.Type != "tool_result" || r.ToolUseID != fmt.Sprint("call_", i) || r.IsError != failed || !strings.Contains(r.Content[0].Text, c.want) {
			t.Errorf("%s %s: got %+v, want %q", c.name, c.input, r, c.want)
		}
	}
	if len(results) != at {
		t.Errorf("got %d results, want %d", len(results), at)
	}
}

func TestWithOpenAI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := newVendor(t, chatCalls(), chatAnswer(map[string]any{"role": "assistant", "content": "It is sunny."}))
	client := openai.NewClient(openaioption.WithBaseURL(v.url), openaioption.WithAPIKey("none"), openaioption.WithMaxRetries(0))
	answer, err := WithOpenAI(t.Context(), &client, w.session, openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("How is it there?")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Choices[0].Message.Content; got != "It is sunny." {
		t.Errorf("got %q, want the last answer", got)
	}
	v.wantTools(t, func(text json.RawMessage) string {
		var named struct{ Function struct{ Name string } }
		if err := json.Unmarshal(text, &named); err != nil {
			return err.Error()
		}
		return named.Function.Name
	})
	var second struct {
		Messages []struct {
			Role       string
			Content    any
			ToolCallID string `json:"tool_call_id"`
		}
	}
	if err := json.Unmarshal([]byte(v.asked[1]), &second); err != nil {
		t.Fatal(err)
	}
	results := second.Messages[len(second.Messages)-len(asked):]
	for i, c := range asked {
		if r := results[i]; r.Role != "tool" || r.ToolCallID != fmt.Sprint("call_", i) || !strings.Contains(fmt.Sprint(r.Content), c.want) {
			t.Errorf("%s %s: got %+v, want %q", c.name, c.input, r, c.want)
		}
	}
	w.wantOnRecord(t)
}
