// Command ownloop is a loop of one's own around a provider's API: package provider
// writes the requests and reads the answers, and a view runs the calls. The provider
// is a small server in this program that answers as Anthropic does.
//
//	go run ./examples/ownloop
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

type city struct {
	City string `json:"city" jsonschema:"description=where"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	weather, err := tool.New(tool.Info{
		Name: "weather", Description: "Say how the weather is.", Claims: tool.Claims{ReadOnly: true, Local: true},
	}, func(_ context.Context, in city) (string, error) { return "sunny in " + in.City, nil })
	if err != nil {
		return err
	}
	rt := new(ferrule.Runtime)
	if err := rt.Add(weather); err != nil {
		return err
	}
	session := rt.Session(tool.Caller{})
	defer func() { _ = session.Close(ctx) }()
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()

	var format provider.Format = provider.Anthropic{} // or Responses, Chat, Gemini
	messages := []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text("Where is it warmer, Oslo or Rome?")}}}
	for {
		view := session.View(ctx) // one for each turn: nothing else can be called
		tools, err := view.Definitions(format)
		if err != nil {
			return err
		}
		said, err := ask(ctx, server.URL, format, provider.Request{Model: "a-model", Messages: messages, Tools: tools})
		if err != nil {
			return err
		}
		fmt.Println("model:", said.Text())
		messages = append(messages, provider.Message{Role: provider.Assistant, Parts: said.Parts})
		calls := said.Calls()
		if len(calls) == 0 {
			return nil
		}
		var parts []provider.Part
		for i, result := range view.Do(ctx, calls...) { // as many as calls, in their order
			fmt.Printf("%s %s: %s\n", calls[i].Name, calls[i].Input, result)
			of := provider.ResultOf(calls[i].ID, calls[i].Name, result)
			parts = append(parts, provider.Part{Kind: provider.PartResult, Result: &of})
		}
		messages = append(messages, provider.Message{Role: provider.User, Parts: parts})
	}
}

// ask asks once. An SDK may do this part.
func ask(ctx context.Context, address string, format provider.Format, r provider.Request) (provider.Answer, error) {
	body, err := format.WriteRequest(r)
	if err != nil {
		return provider.Answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return provider.Answer{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return provider.Answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return provider.Answer{}, err
	}
	return format.ReadAnswer(text)
}

// answer is the provider: it asks for two calls, and then says what they gave.
func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		log.Print(err)
	}
	asked, err := provider.Anthropic{}.ReadRequest(body)
	if err != nil {
		log.Print(err)
	}
	said := `{"type":"message","role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"I look."},
		{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}},{"type":"tool_use","id":"toolu_2","name":"weather","input":{"city":"Rome"}}]}`
	if len(asked.Messages) > 1 {
		said = `{"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Both are sunny; Rome lies further south."}]}`
	}
	_, _ = io.WriteString(w, said)
}
