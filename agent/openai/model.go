package openai

import (
	"context"
	"net/http"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ferrule-dev/ferrule/internal/reply"
	"github.com/ferrule-dev/ferrule/provider"
)

// Model asks OpenAI's Responses API, or Chat Completions of OpenAI or of a server that
// is compatible with it. Fields are set before it is first asked, and not changed after;
// it may then be asked by many at the same time. It must not be copied.
type Model struct {
	// Model is the one that is asked where a request names none: gpt-5.
	Model string
	// Chat asks Chat Completions, which is what other servers have. False: Responses.
	Chat bool
	// BaseURL is where a compatible server is, up to and with its version:
	// http://localhost:11434/v1. "": OPENAI_BASE_URL, else OpenAI.
	BaseURL string
	// Options are the SDK's, behind what it reads from the environment and BaseURL: a
	// key, how often is asked again. Nil: the environment alone.
	Options []option.RequestOption
	// Idle is how long the server may send nothing, before its answer or within it, until
	// it is given up; pings count. 0 means 10 minutes, less than that forever. It is
	// nothing to an HTTP client of one's own in Options.
	Idle time.Duration

	once   sync.Once
	client sdk.Client
}

// Format is provider.Responses, or provider.Chat.
func (m *Model) Format() provider.Format {
	if m.Chat {
		return provider.Chat{}
	}
	return provider.Responses{}
}

// Ask asks, and tells what comes while it comes; see agent.Model. The SDK asks again
// where nothing came, or a refusal that may pass; once an answer has begun, nothing is
// asked again, and an error comes with what was whole.
func (m *Model) Ask(ctx context.Context, r provider.Request, told func(provider.Delta)) (provider.Answer, error) {
	m.once.Do(func() { m.client = sdk.NewClient(m.options()...) })
	path := "responses"
	if m.Chat {
		path = "chat/completions"
	}
	return reply.Ask(ctx, m.Format(), m.Model, r, func(body []byte, res **http.Response) error {
		return m.client.Post(ctx, path, body, res)
	}, told)
}

// options are those of the client, behind what it reads from the environment.
func (m *Model) options() []option.RequestOption {
	all := []option.RequestOption{option.WithHTTPClient(&http.Client{Transport: reply.Watch(m.Idle)})}
	if m.BaseURL != "" {
		all = append(all, option.WithBaseURL(m.BaseURL))
	}
	return append(all, m.Options...)
}
