package builtin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ferrule-dev/ferrule/tool"
)

// fetchRefusal is why something is not opened: for the model in a sentence, for
// the operator with the address and what would open it.
type fetchRefusal struct{ text, detail string }

func (r *fetchRefusal) Error() string { return r.detail }

func fetchBadURL(format string, args ...any) error {
	text := "The address is not one that fetch can open: " + fmt.Sprintf(format, args...) + "."
	return &fetchRefusal{text, text}
}

// fetchInvalid is a refusal as the error of a tool; nil stays nil.
func fetchInvalid(err error) error {
	if r := (*fetchRefusal)(nil); errors.As(err, &r) {
		return &tool.Error{Kind: tool.InvalidValue, Text: r.text, Detail: r.detail}
	}
	return err
}

// fetchFailed is what the tool says about an answer that did not come. A refusal
// is no cause of its error: a runtime tries again what could not be reached, and
// must not try what was refused.
func fetchFailed(ctx context.Context, t fetchTarget, hop int, limit time.Duration, err error) error {
	host := t.host()
	if hop > 0 { // where a redirect leads is the operator's
		host = "where it redirects to"
	}
	if r := (*fetchRefusal)(nil); errors.As(err, &r) {
		if hop > 0 {
			return &tool.Error{Kind: tool.InvalidValue, Text: "The address redirects to one that fetch does not open.", Detail: fmt.Sprintf("redirect %d: %s", hop, r.detail)}
		}
		return fetchInvalid(err)
	}
	if own := (*tool.Error)(nil); errors.As(err, &own) {
		return own
	}
	e := &tool.Error{Kind: tool.Failed, Detail: fetchLine(err.Error()), Cause: err}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(context.Cause(ctx), errFetchLimit):
		e.Kind, e.Text = tool.Timeout, fmt.Sprintf("There was no whole answer from %s within %s.", host, limit)
	case ctx.Err() != nil:
		e.Text = "It was stopped."
	case errors.As(err, &dns):
		e.Text = fmt.Sprintf("The name of %s could not be looked up.", host)
		if dns.IsNotFound {
			e.Cause = nil // there is nothing to wait for
		}
	case fetchTimedOut(err):
		e.Kind, e.Text = tool.Timeout, fmt.Sprintf("No answer came from %s for too long.", host)
	case errors.As(err, &op) && op.Op == "dial":
		e.Text = fmt.Sprintf("No connection to %s could be made.", host)
	default:
		e.Text = fmt.Sprintf("The answer from %s could not be read.", host)
	}
	return e
}

func fetchTimedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// errFetchLimit is why a call ends that takes longer than Fetch.Timeout.
const errFetchLimit fetchCause = "fetch: it took too long"

type fetchCause string

func (c fetchCause) Error() string { return string(c) }
