package mcptool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxRedirects = 3
	// tailTime and tailBytes are what is spent on the rest of an answer, so that
	// its connection can be used again.
	tailTime  = 250 * time.Millisecond
	tailBytes = 64 << 10
)

// httpReply is the answer to one HTTP request, whose body is not read yet. It is
// closed or finished by who got it.
type httpReply struct {
	*http.Response

	l      *httpLink
	unhook func() bool // from the context of who asked
	cancel context.CancelFunc
}

// send makes an HTTP request, which ends with ctx and with the link. unrun: the
// server surely has not got the whole body, or refused it unread.
func (l *httpLink) send(ctx context.Context, method string, header http.Header, body []byte) (r *httpReply, unrun bool, err error) {
	if l.access != nil {
		return l.sendAuthorized(ctx, method, header, body)
	}
	return l.sendOnce(ctx, method, header, body)
}

// sendOnce sends it once, as it is.
func (l *httpLink) sendOnce(ctx context.Context, method string, header http.Header, body []byte) (r *httpReply, unrun bool, err error) {
	// The rest of an answer is read when its caller has gone on: so the request's
	// context hangs on that of the caller only until then.
	request, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, cancel)
	unlife := context.AfterFunc(l.life, cancel) //nolint:contextcheck // it ends with both
	stop := func() {
		unhook()
		unlife()
		cancel()
	}
	res, unrun, err := l.roundTrip(request, method, header, body) //nolint:bodyclose // the reply closes it
	if err != nil {
		stop()
		return nil, unrun, err
	}
	return &httpReply{Response: res, l: l, unhook: unhook, cancel: stop}, false, nil
}

// close gives the answer up: what is not read of it is lost, and its connection
// with it.
func (r *httpReply) close() {
	r.cancel()
	_ = r.Body.Close()
}

// finish is close for an answer of which everything that matters was read.
func (r *httpReply) finish() {
	r.unhook()
	if r.Body == http.NoBody || !r.l.begin() {
		r.close()
		return
	}
	go func() {
		defer r.l.work.Done()
		defer survive(r.l.log, r.l.end)
		late := time.AfterFunc(tailTime, r.cancel)
		drainBody(r.Body)
		late.Stop()
		r.cancel()
	}()
}

// drainBody reads the little that may be left of a body, and closes it.
func drainBody(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, tailBytes)
	_ = body.Close()
}

// roundTrip makes a request, and follows redirects that stay with the same server
// and keep the method.
func (l *httpLink) roundTrip(ctx context.Context, method string, header http.Header, body []byte) (res *http.Response, unrun bool, err error) {
	at := l.endpoint
	for range maxRedirects + 1 {
		res, unrun, err = l.attempt(ctx, method, at, header, body)
		if err != nil {
			return nil, unrun, err
		}
		if !redirects(res.StatusCode) {
			return res, false, nil
		}
		drainBody(res.Body)
		to, err := res.Location()
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("got status %d without a location", res.StatusCode)
		case !sameServer(l.endpoint, to):
			return nil, false, fmt.Errorf("got a redirect to %s://%s, want one to the same scheme, host and port", short(to.Scheme), short(to.Host))
		case method != http.MethodGet && res.StatusCode != http.StatusTemporaryRedirect && res.StatusCode != http.StatusPermanentRedirect:
			return nil, false, fmt.Errorf("got a redirect with status %d for %s, want 307 or 308", res.StatusCode, method)
		}
		to.User, to.Fragment = l.endpoint.User, ""
		at = to
	}
	return nil, false, fmt.Errorf("got more than %d redirects", maxRedirects)
}

// attempt sends a request once.
func (l *httpLink) attempt(ctx context.Context, method string, at *url.URL, header http.Header, body []byte) (*http.Response, bool, error) {
	req, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return nil, true, errors.New("url: got what is no URL")
	}
	maps.Copy(req.Header, header)
	if host := header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if at.User != nil && req.Header.Get("Authorization") == "" {
		password, _ := at.User.Password()
		req.SetBasicAuth(at.User.Username(), password)
	}
	var sent *onceBody
	if body != nil {
		sent = &onceBody{rest: body}
		req.Body, req.ContentLength = sent, int64(len(body)) // and no GetBody
	}
	res, err := l.transport.RoundTrip(req)
	if err != nil {
		return nil, sent == nil || sent.cut(), err
	}
	return res, false, nil
}

// headers are those of every request: the configured ones, and the session's.
func (l *httpLink) headers() http.Header {
	h := l.header.Clone()
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "ferrule")
	}
	if token := l.access.current(); token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, value := range map[string]string{linkSession: l.session, linkVersion: l.version} {
		h.Del(name)
		if value != "" {
			h.Set(name, value)
		}
	}
	return h
}

// Headers of the protocol.
const (
	linkVersion = "Mcp-Protocol-Version"
	linkSession = "Mcp-Session-Id"
	linkMethod  = "Mcp-Method"
	linkName    = "Mcp-Name"
	linkResume  = "Last-Event-Id"
)

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// sameServer says whether two addresses have the same scheme, host and port.
func sameServer(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
