package main

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/genai"
)

// adk runs the calls of a turn only inside the runner of an agent.
func adk() peer {
	return peer{
		name: "adk", module: "google.golang.org/adk", prepare: prepareADK,
		note: "Runner of an llmagent with a scripted model and a new session in memory for each turn; arguments as a map, decoded before",
	}
}

type adkTurn struct {
	runner   *runner.Runner
	sessions session.Service
	asks     *genai.Content
	shown    []*genai.Content
}

const adkName = "bench"

func prepareADK(_ context.Context, tools []function, calls []request) (turn, error) {
	t := &adkTurn{sessions: session.InMemoryService(), asks: &genai.Content{Role: genai.RoleModel}}
	var known []tool.Tool
	for _, f := range tools {
		k, err := functiontool.New(functiontool.Config{Name: f.name, Description: "Search files."}, func(ctx tool.Context, in args) (reply, error) { //nolint:contextcheck // a tool.Context is the context of the call
			return f.run(ctx, in)
		})
		if err != nil {
			return nil, err
		}
		known = append(known, k)
	}
	for _, c := range calls {
		var input map[string]any
		if err := json.Unmarshal([]byte(c.input), &input); err != nil {
			return nil, err
		}
		t.asks.Parts = append(t.asks.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.id, Name: c.tool, Args: input}})
	}
	a, err := llmagent.New(llmagent.Config{Name: adkName, Model: t, Tools: known})
	if err != nil {
		return nil, err
	}
	t.runner, err = runner.New(runner.Config{AppName: adkName, Agent: a, SessionService: t.sessions})
	return t, err
}

// Name is the name of the scripted model.
func (t *adkTurn) Name() string { return "scripted" }

// GenerateContent asks for the calls and, once it is shown their results, is
// done.
func (t *adkTurn) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	content := genai.NewContentFromText("done", genai.RoleModel)
	if last := req.Contents[len(req.Contents)-1]; last.Parts[0].FunctionResponse != nil {
		t.shown = req.Contents
	} else {
		content = t.asks
	}
	return func(yield func(*model.LLMResponse, error) bool) { yield(&model.LLMResponse{Content: content}, nil) }
}

// Run makes a session for the turn: in one that is used again each turn would
// carry all earlier ones.
func (t *adkTurn) Run(ctx context.Context) (err error) {
	t.shown = nil
	made, err := t.sessions.Create(ctx, &session.CreateRequest{AppName: adkName, UserID: adkName})
	if err != nil {
		return err
	}
	id := made.Session.ID()
	defer func() {
		err = errors.Join(err, t.sessions.Delete(ctx, &session.DeleteRequest{AppName: adkName, UserID: adkName, SessionID: id}))
	}()
	for _, err := range t.runner.Run(ctx, adkName, id, genai.NewContentFromText("Search.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *adkTurn) Results() []result {
	var list []result
	for _, c := range t.shown {
		for _, p := range c.Parts {
			if r := p.FunctionResponse; r != nil {
				text, err := json.Marshal(r.Response)
				if err != nil {
					text = []byte(err.Error())
				}
				list = append(list, result{r.ID, string(text)})
			}
		}
	}
	return list
}
