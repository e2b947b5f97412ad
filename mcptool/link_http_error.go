package mcptool

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
	// maxRefusal is how much is read of an answer that refuses, and maxQuoted how
	// much of it an error repeats.
	maxRefusal = 1 << 20
	maxQuoted  = 300
	// codeSession is what servers made with the TypeScript SDK say with status 400
	// when they do not know a session, for instance after they were restarted.
	codeSession = -32000
)

var errSessionEnded = errors.New("the server has ended the session")

// statusError is an answer that refuses and says so with no fault.
type statusError struct {
	status int
	said   string
	// unauthorized: it was refused for want of authorization, and did not run.
	unauthorized bool
}

func (e *statusError) Is(target error) bool { return target == errUnauthorized && e.unauthorized }

func (e *statusError) Error() string {
	text := fmt.Sprintf("got status %d %s", e.status, http.StatusText(e.status))
	if e.status == http.StatusUnauthorized || e.status == http.StatusForbidden {
		text += `: the server wants authorization: set headers: {Authorization: "Bearer ${secret:NAME}"} for it`
	}
	if e.said != "" {
		text += fmt.Sprintf(": it says %q", e.said)
	}
	return text
}

// refused is the error of a reply whose status is not below 300, which it closes.
// unrun: what was sent surely did not run.
func (l *httpLink) refused(r *httpReply) (unrun bool, err error) {
	if r.StatusCode < 300 {
		return false, nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxRefusal))
	r.finish()
	refusal := &statusError{status: r.StatusCode, said: l.quotable(body)}
	_, refusal.unauthorized = unauthorized(r.Response)
	var m message
	if said, err := parseMessage(body); err == nil && said.isAnswer() {
		m = said
	}
	fault := m.fault
	ended, unrun := lost(r.StatusCode, m)
	switch {
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		return false, refusal
	case r.Request.Header.Get(linkSession) != "" && ended:
		l.end(fmt.Errorf("%w: %w", errSessionEnded, refusal))
		return unrun, l.why()
	case fault != nil:
		return false, fault
	}
	return false, refusal
}

// lost says whether a server that was sent the id of a session does not know it,
// and whether what was sent has surely not run. M6: where there is a doubt it may
// have. codeSession is also the code of every other error of a server, and some
// answer so when a tool has failed: then the answer has the id of the request,
// which a server that refuses a session does not look at.
func lost(status int, m message) (ended, unrun bool) {
	text := ""
	if m.fault != nil {
		text = strings.ToLower(m.fault.Message)
	}
	switch {
	case status == http.StatusNotFound && m.fault == nil:
		return true, true
	case status == http.StatusNotFound && m.fault.Code != codeNoMethod:
		return true, m.id == nil || strings.Contains(text, "session")
	case status == http.StatusBadRequest && m.fault != nil && m.fault.Code == codeSession && m.id == nil:
		for _, words := range []string{"session id", "session-id", "session not found", "server not initialized"} {
			if strings.Contains(text, words) {
				return true, true
			}
		}
	}
	return false, false
}

// quotable is the beginning of a body as an error may repeat it: without the
// values of headers, which a server may have echoed, and without tokens.
func (l *httpLink) quotable(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), 4<<10)]), "\uFFFD")
	for _, values := range l.header {
		for _, value := range values {
			for part := range strings.FieldsSeq(value) { // Bearer and the token
				if len(part) > 6 {
					text = strings.ReplaceAll(text, part, "[header]")
				}
			}
		}
	}
	return quoted(l.clean(l.access.without(text)))
}

// quoted is a text on one line, bounded.
func quoted(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxQuoted {
		end := maxQuoted
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return text
}

// otherEra adds errOtherEra to the error of a handshake that a server of the old
// era did not understand: it refuses what it does not know in a way of its own
// choice. That it wants authorization, or is busy, says nothing.
func otherEra(err error, wanted era) error {
	if wanted != newEra || errors.Is(err, errOtherEra) {
		return err
	}
	odd := errors.Is(err, errNoAnswer)
	if refusal, ok := errors.AsType[*statusError](err); ok {
		switch refusal.status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		default:
			odd = true
		}
	}
	if odd {
		return fmt.Errorf("%w: %w", errOtherEra, err)
	}
	return err
}

func mediaType(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	}
	return strings.ToLower(strings.TrimSpace(kind))
}
