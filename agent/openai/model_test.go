package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3/option"
	"go.uber.org/goleak"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/agent/openai"
	"github.com/ferrule-dev/ferrule/internal/modeltest"
	"github.com/ferrule-dev/ferrule/provider"
)

var _ agent.Model = (*openai.Model)(nil)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path, broken string
		chat               bool
	}{
		{name: "responses", path: "/v1/responses", broken: "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"Overloaded\",\"param\":null,\"sequence_number\":9}"},
		{name: "chat", path: "/v1/chat/completions", broken: "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\",\"param\":null,\"code\":null}}", chat: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			modeltest.Run(t, modeltest.Model{
				New: func(url, key string, again int, idle time.Duration) agent.Model {
					return &openai.Model{Model: "own", Idle: idle, Chat: tt.chat, BaseURL: url + "/v1", Options: []option.RequestOption{option.WithAPIKey(key), option.WithMaxRetries(again)}}
				},
				Path:   tt.path,
				Key:    func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") },
				Broken: tt.broken,
				Refusal: func(text string) string {
					return `{"error":{"message":"` + text + `","type":"some_error","param":null,"code":null}}`
				},
			})
		})
	}
}

// The key and the address come from the environment, as with the SDK alone; a key that
// is for administration is not used.
func TestEnvironment(t *testing.T) {
	server := modeltest.Serve(t, modeltest.Refuse(http.StatusTeapot, "{}"))
	t.Setenv("OPENAI_BASE_URL", server.URL)
	t.Setenv("OPENAI_API_KEY", "from the environment")
	t.Setenv("OPENAI_ADMIN_KEY", "of an administrator")
	request := provider.Request{Model: "own", Messages: []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text("Hi")}}}}

	for i, m := range []*openai.Model{{}, {Chat: true}} {
		if _, err := m.Ask(t.Context(), request, nil); err == nil || len(server.Asked()) != i+1 || server.Asked()[i].Header.Get("Authorization") != "Bearer from the environment" {
			t.Errorf("got %v, asked %v", err, server.Asked())
		}
	}
	request.Model = ""
	if _, err := new(openai.Model).Ask(t.Context(), request, nil); err == nil || len(server.Asked()) != 2 {
		t.Errorf("without a model: got %v after %d requests", err, len(server.Asked()))
	}
}
