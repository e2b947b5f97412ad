package builtin

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ferrule-dev/ferrule/tool"
)

const (
	// fetchShort is how much of the text of a failure the model reads, in bytes.
	fetchShort = 2000
	// fetchLater is the longest wait that a server can ask for.
	fetchLater = time.Hour
)

// fetchBody is what was read of an answer.
type fetchBody struct {
	data []byte
	cut  bool  // there is more
	size int64 // of the whole, packed or not; -1: not known
}

// fetchResult is a result of the web: content by strangers.
func fetchResult(content ...tool.Content) tool.Result {
	web := tool.Web
	return tool.Result{Content: content, Trust: &web}
}

// fetchElsewhere says where a redirect leads that is not followed.
func fetchElsewhere(method string, t fetchTarget, status int, to fetchTarget) tool.Result {
	return fetchResult(tool.Text(fmt.Sprintf("%s %s\n%s: it redirects to another host, which was not opened. Fetch this address if you want what is there:\n%s",
		method, t.url, fetchStatus(status), to.url)))
}

// fetchStatus is a status in words that are not the server's.
func fetchStatus(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// answer reads what came, and closes it.
func (c *fetchClient) answer(ctx context.Context, in fetchInput, t fetchTarget, hops int, res *http.Response) (tool.Result, error) {
	defer res.Body.Close() //nolint:errcheck // its connection is not used again
	kind := fetchType(res.Header.Get("Content-Type"))
	head := fmt.Sprintf("%s %s\n%s", in.method(), t.url, fetchStatus(res.StatusCode))
	if hops == 1 {
		head += ", after a redirect"
	} else if hops > 1 {
		head += fmt.Sprintf(", after %d redirects", hops)
	}
	failed := res.StatusCode >= 400
	if in.method() == http.MethodHead {
		out := fetchResult(tool.Text(head + fetchHeaders(res)))
		if failed {
			return out, fetchDenied(t, hops, res)
		}
		return out, nil
	}
	body, err := c.read(res, failed)
	if err != nil {
		return tool.Result{}, fetchFailed(ctx, t, hops, c.timeout, err)
	}
	if kind == "" {
		kind = fetchType(http.DetectContentType(body.data))
	}
	content, err := c.content(in, t, kind, res.Header.Get("Content-Type"), body, head)
	switch {
	case failed && err != nil: // of what cannot be shown the status is enough
		return fetchResult(), fetchDenied(t, hops, res)
	case failed:
		return fetchResult(fetchBrief(content)...), fetchDenied(t, hops, res)
	case err != nil:
		return fetchResult(), err // which names the type, a word of the server's
	}
	return fetchResult(content...), nil
}

// fetchDenied is the error of a status from 400 on.
func fetchDenied(t fetchTarget, hops int, res *http.Response) error {
	host := t.host()
	if hops > 0 {
		host = "The address"
	}
	e := &tool.Error{
		Kind: tool.Failed, Text: fmt.Sprintf("%s answered %s.", host, fetchStatus(res.StatusCode)),
		Detail: fmt.Sprintf("%s answered %s", t.url, fetchStatus(res.StatusCode)),
	}
	switch res.StatusCode {
	case http.StatusTooManyRequests:
		e.Kind = tool.RateLimited
		fallthrough
	case http.StatusServiceUnavailable:
		if s, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 31); err == nil {
			e.RetryAfter = min(time.Duration(s)*time.Second, fetchLater)
		}
	}
	return e
}

// fetchBrief keeps the beginning of the text.
func fetchBrief(content []tool.Content) []tool.Content {
	text := tool.TextOf(content)
	if len(text) > fetchShort {
		text = strings.ToValidUTF8(text[:fetchShort], "") + "\n[cut]"
	}
	return []tool.Content{tool.Text(text)}
}

// fetchHeaders are the headers that say what a GET would bring.
func fetchHeaders(res *http.Response) string {
	var b strings.Builder
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Last-Modified", "Etag", "Location"} {
		if v := res.Header.Get(name); v != "" {
			fmt.Fprintf(&b, "\n%s: %s", name, fetchLine(v))
		}
	}
	return b.String()
}

// fetchLine is a header's value as one line of a bounded length.
func fetchLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// read takes the body in, packed and unpacked no more than the limit.
func (c *fetchClient) read(res *http.Response, failed bool) (fetchBody, error) {
	most := int64(c.bytes)
	if failed {
		most = min(most, 64<<10)
	}
	b := fetchBody{size: res.ContentLength}
	wire := &io.LimitedReader{R: res.Body, N: most + 1}
	var plain io.Reader = wire
	switch encoding := strings.ToLower(res.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(wire)
		if errors.Is(err, io.EOF) {
			return b, nil // nothing, which needs no unpacking
		}
		if err != nil {
			return b, fmt.Errorf("unpack: %w", err)
		}
		plain = z
	default:
		return b, &tool.Error{Kind: tool.Failed, Text: "The answer is packed in a way that fetch cannot read.", Detail: "content-encoding: " + fetchLine(encoding)}
	}
	data, err := io.ReadAll(io.LimitReader(plain, most+1))
	switch {
	case int64(len(data)) > most:
		data, b.cut = data[:most], true
	case wire.N <= 0: // the end of what is packed was left behind
		b.cut = true
	case err != nil:
		return b, err
	}
	b.data = data
	return b, nil
}

// fetchType is a media type without its parameters; "": not said.
func fetchType(header string) string {
	kind, _, err := mime.ParseMediaType(header)
	const longest = 127 // that one can be registered with; a longer one is a message
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || len(kind) > longest {
		return ""
	}
	return kind
}
