package reply

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/ferrule-dev/ferrule/provider"
)

// mostRefusal is how much is read of what is said of a refusal.
const mostRefusal = 1 << 20

// Ask asks for a stream and reads the reply. The model is asked where the request names
// none; post sends the body as the SDK does.
func Ask(ctx context.Context, f provider.Format, model string, r provider.Request, post func(body []byte, res **http.Response) error, told func(provider.Delta)) (provider.Answer, error) {
	if r.Model = cmp.Or(r.Model, model); r.Model == "" {
		return provider.Answer{}, fmt.Errorf("%s: got no model, want one in the request or in Model.Model", f)
	}
	r.Stream = true
	body, err := f.WriteRequest(r)
	if err != nil {
		return provider.Answer{}, err
	}
	var res *http.Response
	err = post(body, &res)
	return Read(ctx, f, res, err, told)
}

// Read reads a reply and closes its body. Response and error are as the SDK returned
// them: both, where it returns what it made of a refusal. What the provider says went
// wrong is a *provider.Error, without the keys of the request. With an error, the answer
// holds what was whole.
func Read(ctx context.Context, f provider.Format, res *http.Response, failed error, told func(provider.Delta)) (provider.Answer, error) {
	if res != nil && res.Body != nil {
		defer func() { _ = res.Body.Close() }() // what was read is read
	}
	var answer provider.Answer
	err := refusal(res, failed)
	if err == nil {
		answer, err = read(f, res, told)
	}
	if err == nil {
		return answer, nil
	}
	if ended := ctx.Err(); ended != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, ended) {
			return answer, fmt.Errorf("%s: %w: %w", f, ended, cause)
		}
		return answer, fmt.Errorf("%s: %w", f, ended)
	}
	if said, ok := errors.AsType[*provider.Error](err); ok {
		hide(said, res)
		if said.Status != 0 {
			return answer, fmt.Errorf("%s: HTTP %d: %w", f, said.Status, err)
		}
	}
	// An address may have a key in it, and the host knows where it asks.
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	return answer, fmt.Errorf("%s: %w", f, err)
}

// refusal is why there is nothing to read.
func refusal(res *http.Response, failed error) error {
	switch {
	case res == nil && failed == nil:
		return errors.New("got no response")
	case res == nil, failed != nil && res.StatusCode < http.StatusMultipleChoices:
		return failed
	case res.StatusCode < http.StatusMultipleChoices:
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, mostRefusal)) // as far as it came
	return provider.ReadError(res.StatusCode, res.Header, body)
}

// read reads what came, a stream or not: Stream takes the answer of a server that does
// not know how to stream, too, whatever it says of the type. A page is of none that
// speaks the format.
func read(f provider.Format, res *http.Response, told func(provider.Delta)) (provider.Answer, error) {
	body := bufio.NewReader(res.Body)
	if first(body) == '<' {
		return provider.Answer{}, fmt.Errorf("got %q, want a stream of events", res.Header.Get("Content-Type"))
	}
	return f.Stream(body, told)
}

// first is the first byte that is not blank, which is left to be read; 0: none.
func first(r *bufio.Reader) byte {
	for {
		b, err := r.ReadByte()
		switch {
		case err != nil:
			return 0 // the next read has the error again
		case b != ' ' && b != '\t' && b != '\r' && b != '\n':
			_ = r.UnreadByte() // it was just read
			return b
		}
	}
}
