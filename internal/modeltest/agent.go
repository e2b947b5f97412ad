package modeltest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/provider"
	"github.com/ferrule-dev/ferrule/tool"
)

// file is the input of the calls in answer.
type file struct {
	Path string `json:"path"`
	Note string `json:"note"`
}

// loop runs a whole agent on a model whose first answer has three calls: the rest of it
// is held back from the third on until the tool runs, and then comes, or never does.
func (m Model) loop(t *testing.T, stream []byte, breaks bool) {
	ctx := t.Context()
	f := m.New("http://localhost", key, 0, 0).Format()
	last, err := f.WriteStream(provider.Answer{ID: "answer_2", Model: "own", Parts: []provider.Part{provider.Text("Three files.")}, Stop: provider.StopEnd, Usage: provider.Usage{Input: 1, Output: 2}})
	if err != nil {
		t.Fatal(err)
	}
	held, runs := bytes.Index(stream, []byte("call_2")), make(chan struct{}, 3)
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream[:held]) // see Stream
		flush(w)
		select {
		case <-runs:
		case <-r.Context().Done():
		}
		if breaks {
			drop(w, "")
			return
		}
		_, _ = w.Write(stream[held:]) // see Stream
	}, Stream(last))

	read, err := tool.New(tool.Info{Name: "read", Description: "Read a file.", Claims: tool.Claims{ReadOnly: true, Local: true}},
		func(_ context.Context, in file) (string, error) {
			runs <- struct{}{}
			return "what is in " + in.Path, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
	if err := rt.Add(read); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rt.Close(ctx); err != nil {
			t.Error(err)
		}
	}()

	var tr agent.Transcript
	a := &agent.Agent{Runtime: rt, Model: m.New(server.URL, key, 2, 0), System: "Be terse."}
	var text strings.Builder
	for event, err := range a.Run(ctx, &tr, "What is there?") {
		if err != nil {
			t.Errorf("got %v", err)
		}
		if event.Kind == agent.Said {
			text.WriteString(event.Text)
		}
	}
	if want := answer(0).Text() + "Three files."; text.String() != want || tr.Why != agent.Done {
		t.Errorf("got %q, %s, want %q", text.String(), tr.Why, want)
	}
	asked := server.Asked()
	if len(asked) != 2 {
		t.Fatalf("asked %d times, want 2", len(asked))
	}
	if marks := bytes.Contains(asked[0].Body, []byte("cache_control")); marks != (f == provider.Format(provider.Anthropic{})) {
		t.Errorf("marks for the cache: got %v in %s", marks, asked[0].Body)
	}
	sent, err := f.ReadRequest(asked[1].Body)
	if err != nil {
		t.Fatal(err)
	}
	calls, results := 0, 0
	for _, message := range sent.Messages {
		for _, p := range message.Parts {
			switch p.Kind {
			case provider.PartCall:
				calls++
			case provider.PartResult:
				if text := p.Result.Content[0].Text; p.Result.CallID != fmt.Sprintf("call_%d", results) || text != fmt.Sprintf("what is in file %d", results) {
					t.Errorf("result %d: got %q of %s", results, text, p.Result.CallID)
				}
				results++
			case provider.PartText, provider.PartMedia, provider.PartThought, provider.PartRefusal, provider.PartOwn:
			}
		}
	}
	if calls != results || !breaks && calls != 3 || breaks && (calls == 0 || calls == 3) {
		t.Errorf("got %d calls and %d results in the second request", calls, results)
	}
}
