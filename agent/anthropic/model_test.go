package anthropic_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"
	"go.uber.org/goleak"

	"github.com/ferrule-dev/ferrule/agent"
	"github.com/ferrule-dev/ferrule/agent/anthropic"
	"github.com/ferrule-dev/ferrule/internal/modeltest"
	"github.com/ferrule-dev/ferrule/provider"
)

var _ agent.Model = (*anthropic.Model)(nil)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestModel(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, modeltest.Model{
		New: func(url, key string, again int, idle time.Duration) agent.Model {
			return &anthropic.Model{Model: "own", Idle: idle, Options: []option.RequestOption{option.WithBaseURL(url), option.WithAPIKey(key), option.WithMaxRetries(again)}}
		},
		Path:   "/v1/messages",
		Key:    func(h http.Header) string { return h.Get("X-Api-Key") },
		Broken: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
		Refusal: func(text string) string {
			return `{"type":"error","error":{"type":"api_error","message":"` + text + `"},"request_id":"req_1"}`
		},
	})
}

// The key and the address come from the environment, as with the SDK alone.
func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_CONFIG_DIR", t.TempDir())
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID"} {
		t.Setenv(name, "")
	}
	server := modeltest.Serve(t, modeltest.Refuse(http.StatusTeapot, "{}"))
	t.Setenv("ANTHROPIC_BASE_URL", server.URL)
	request := provider.Request{Model: "own", Messages: []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text("Hi")}}}}

	if _, err := new(anthropic.Model).Ask(t.Context(), request, nil); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") || len(server.Asked()) != 0 {
		t.Errorf("without a key: got %v after %d requests, want where a key is looked for", err, len(server.Asked()))
	}
	t.Setenv("ANTHROPIC_API_KEY", "from the environment")
	if _, err := new(anthropic.Model).Ask(t.Context(), request, nil); err == nil || len(server.Asked()) != 1 || server.Asked()[0].Header.Get("X-Api-Key") != "from the environment" {
		t.Errorf("got %v, asked %v", err, server.Asked())
	}
	request.Model = ""
	if _, err := new(anthropic.Model).Ask(t.Context(), request, nil); err == nil || len(server.Asked()) != 1 {
		t.Errorf("without a model: got %v after %d requests", err, len(server.Asked()))
	}
}
