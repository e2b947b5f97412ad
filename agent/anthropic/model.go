package anthropic

import (
	"context"
	"net/http"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ferrule-dev/ferrule/internal/reply"
	"github.com/ferrule-dev/ferrule/provider"
)

// Model asks Anthropic's Messages API. Fields are set before it is first asked, and not
// changed after; it may then be asked by many at the same time. It must not be copied.
type Model struct {
	// Model is the one that is asked where a request names none: claude-opus-4-5.
	Model string
	// Options are the SDK's, behind what it reads from the environment: a key, another
	// address, how often is asked again. Nil: the environment alone.
	Options []option.RequestOption
	// Idle is how long the server may send nothing, before its answer or within it, until
	// it is given up; pings count. 0 means 10 minutes, less than that forever. It is
	// nothing to an HTTP client of one's own in Options.
	Idle time.Duration

	once   sync.Once
	client sdk.Client
}

// Format is provider.Anthropic.
func (*Model) Format() provider.Format { return provider.Anthropic{} }

// Ask asks, and tells what comes while it comes; see agent.Model. The SDK asks again
// where nothing came, or a refusal that may pass; once an answer has begun, nothing is
// asked again, and an error comes with what was whole.
func (m *Model) Ask(ctx context.Context, r provider.Request, told func(provider.Delta)) (provider.Answer, error) {
	m.once.Do(func() {
		m.client = sdk.NewClient(append([]option.RequestOption{option.WithHTTPClient(m.http())}, m.Options...)...)
	})
	return reply.Ask(ctx, m.Format(), m.Model, r, func(body []byte, res **http.Response) error {
		return m.client.Post(ctx, "v1/messages", body, res)
	}, told)
}

// http follows no redirection: the key is in a header that net/http would send along to
// whatever host is named.
func (m *Model) http() *http.Client {
	return &http.Client{
		Transport:     reply.Watch(m.Idle),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
