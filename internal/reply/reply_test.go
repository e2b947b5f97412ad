package reply_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/reply"
	"github.com/ferrule-dev/ferrule/provider"
)

// body notes whether it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

// read reads a reply to a request with keys in every place; status 0: none came.
func read(t *testing.T, f provider.Format, status int, text string, failed error, told func(provider.Delta)) (provider.Answer, error) {
	t.Helper()
	if status == 0 {
		return reply.Read(t.Context(), f, nil, failed, told)
	}
	b := &body{Reader: strings.NewReader(text)}
	answer, err := reply.Read(t.Context(), f, &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"text/html"}},
		Body:       b,
		Request: &http.Request{
			URL:    &url.URL{Scheme: "http", Host: "localhost", User: url.UserPassword("me", "in-the-address"), RawQuery: "key=in-the-query&api-version=2024-10-21"},
			Header: http.Header{"Authorization": {"Bearer in-the-header"}, "X-Goog-Api-Key": {"of-another-name"}, "Api-Key": {"short"}, "User-Agent": {"Anthropic/Go"}},
		},
	}, failed, told)
	if !b.closed {
		t.Error("the body is not closed")
	}
	return answer, err
}

func TestRead(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	for _, tt := range []struct {
		name   string
		status int
		body   string
		failed error
		want   string // of the error
	}{
		{"A2 nothing came", 0, "", nil, "openai-chat: got no response"},
		{"A2 the connection broke", 0, "", lost, "openai-chat: connection lost"},
		{"A2 no address is told", 0, "", &url.Error{Op: "Post", URL: "http://localhost/?key=in-the-query", Err: lost}, "openai-chat: connection lost"},
		{"A2 an error beside a response that is fine", 200, "{}", lost, "openai-chat: connection lost"},
		{"A2 a page", 200, " \n<!doctype html>", nil, `openai-chat: got "text/html", want a stream of events`},
		{"A2 nothing in it", 200, "", nil, "openai-chat: unexpected EOF"},
		{"A2 what the SDK made of a refusal counts less than what came", 400, `{"error":"no model"}`, lost, "openai-chat: HTTP 400: provider: no model"},
		{"A2 an error that came as an answer", 200, `{"error":{"message":"no in-the-header"}}`, nil, "openai-chat: provider: no [secret]"},
		{
			"A2 no key is told, wherever it was",
			403, `{"error":{"message":"in-the-header in-the-query of-another-name in-the-address"}}`, nil,
			"openai-chat: HTTP 403: provider: [secret] [secret] [secret] [secret]",
		},
		{
			"A2 other words stay",
			403, `{"error":{"message":"short Bearer 2024-10-21 Anthropic/Go"}}`, nil,
			"openai-chat: HTTP 403: provider: short Bearer 2024-10-21 Anthropic/Go",
		},
		{"A2 a redirection", 307, "", nil, "openai-chat: HTTP 307: provider: temporary redirect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, provider.Chat{}, tt.status, tt.body, tt.failed, nil)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	t.Run("A2 the end of the context is the reason", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := reply.Read(ctx, provider.Chat{}, nil, lost, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// Whatever comes, calls that are told are those of the answer, and a refusal is an
// error.
func FuzzRead(f *testing.F) {
	for _, format := range provider.Formats() {
		said := provider.Answer{Parts: []provider.Part{provider.Text("hm")}, Stop: provider.StopEnd}
		stream, err := format.WriteStream(said)
		if err != nil {
			f.Fatal(err)
		}
		whole, err := format.WriteAnswer(said)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(200, stream)
		f.Add(200, whole)
	}
	f.Add(500, []byte("{"))
	f.Fuzz(func(t *testing.T, status int, text []byte) {
		for _, format := range provider.Formats() {
			var told []string
			answer, err := read(t, format, status, string(text), nil, func(d provider.Delta) {
				if d.Kind == provider.DeltaCall {
					told = append(told, d.Call.Name+string(d.Call.Input))
				}
			})
			if err == nil && status >= 300 {
				t.Errorf("%s: status %d is no error", format, status)
			}
			var calls []string
			for _, c := range answer.Calls() {
				calls = append(calls, c.Name+string(c.Input))
			}
			if !slices.Equal(told, calls) {
				t.Errorf("%s: told %q, and the answer has %q", format, told, calls)
			}
		}
	})
}
