package anthropic

import (
	"context"
	"errors"
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

	once   sync.Once
	client sdk.Client
}

// Format is provider.Anthropic.
func (*Model) Format() provider.Format { return provider.Anthropic{} }

// Ask asks, and tells what comes while it comes; see agent.Model. The SDK asks again
// where nothing came, or a refusal that may pass; once an answer has begun, nothing is
// asked again, and an error comes with what was whole.
func (m *Model) Ask(ctx context.Context, r provider.Request, told func(provider.Delta)) (provider.Answer, error) {
	if r.Model == "" {
		r.Model = m.Model
	}
	if r.Model == "" {
		return provider.Answer{}, errors.New("anthropic: got no model, want one in the request or in Model.Model")
	}
	r.Stream = true
	body, err := m.Format().WriteRequest(r)
	if err != nil {
		return provider.Answer{}, err
	}
	m.once.Do(func() {
		m.client = sdk.NewClient(append([]option.RequestOption{option.WithHTTPClient(client())}, m.Options...)...)
	})
	var res *http.Response
	err = m.client.Post(ctx, "v1/messages", body, &res)
	return reply.Read(ctx, m.Format(), res, err, told)
}

// client is as the SDK's own, but follows no redirection: the key is in a header that
// net/http would send along to whatever host is named.
func client() *http.Client {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.ResponseHeaderTimeout = 10 * time.Minute // of what comes behind them: none
		c.Transport = t
	}
	return c
}
