package mcptool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// httpLink is a connection over streamable HTTP. Each message is a POST of its
// own; what the server says comes back on the answer to it or, in the old era, on
// a stream that is asked for with GET.
type httpLink struct {
	endpoint  *url.URL
	header    http.Header // of the server's configuration: its values are secret
	transport *http.Transport
	access    *access // nil: nobody logs in to the server
	speaks    era
	who       introduction
	own       *httpHearing // hears what belongs to no request
	log       *slog.Logger
	clean     func(string) string // takes what is secret out of a text

	// life ends with the link, and its cause is why.
	life context.Context
	end  context.CancelCauseFunc
	once sync.Once // close
	last atomic.Int64
	// farewell is how long the end of the session is waited for.
	farewell time.Duration

	mu      sync.Mutex
	closing bool
	work    sync.WaitGroup // what close waits for
	session string         // Mcp-Session-Id; "": none
	version string         // of the handshake; "": it is not done
	hello   *greeting
	calls   map[string]*httpCall               // those that have a progress token, by that of the wire
	waiting map[string]*httpCall               // all, by id
	asked   map[string]context.CancelCauseFunc // requests of the server that are not answered, by id
	refuses int                                // requests of the server that are just being refused
	faults  faults
}

var _ link = (*httpLink)(nil)

const (
	farewellTime = 5 * time.Second
	// idleTime is how long a connection is kept that nobody uses. Many servers close
	// theirs after 5 s; a request that is written in that moment may have run or
	// not, and cannot be sent again.
	idleTime = 4 * time.Second
	dialTime = 10 * time.Second
	// openTime is how long the stream for what belongs to no request is waited for.
	openTime = 200 * time.Millisecond
)

// dialHTTP connects to a server over streamable HTTP, in the era that is wanted.
// errOtherEra is in the error's tree where the server does not speak it. hears
// hears what belongs to no request; a listener must not close the link.
func dialHTTP(ctx context.Context, s Server, who introduction, wanted era, hears listener, log *slog.Logger) (link, error) {
	l, err := newHTTPLink(ctx, s, who, wanted, hears, log)
	if err != nil {
		return nil, err
	}
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// newHTTPLink is a link that has said nothing yet.
func newHTTPLink(ctx context.Context, s Server, who introduction, wanted era, hears listener, log *slog.Logger) (*httpLink, error) {
	endpoint, err := url.Parse(s.URL)
	if err != nil {
		return nil, errors.New("url: got what is no URL") // its error has the URL, which may have a password
	}
	if endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" {
		return nil, fmt.Errorf("url: got scheme %q and host %q, want http or https and a host", endpoint.Scheme, endpoint.Host)
	}
	endpoint.Fragment = ""
	header, err := headerOf(s.Header)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &httpLink{
		endpoint: endpoint, header: header, speaks: wanted, who: who, log: log, access: s.access, clean: s.clean,
		own:      &httpHearing{listener: hears},
		farewell: farewellTime,
		transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment, // never for loopback
			DialContext:            (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    dialTime,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // a compressed stream comes late
			IdleConnTimeout:        idleTime,
			MaxIdleConnsPerHost:    4,
			MaxResponseHeaderBytes: 256 << 10,
		},
		calls:   map[string]*httpCall{},
		waiting: map[string]*httpCall{},
		asked:   map[string]context.CancelCauseFunc{},
	}
	l.faults.told = hears.faulty
	l.life, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	return l, nil
}

// start does the handshake. A link that cannot be used is closed.
func (l *httpLink) start(ctx context.Context) error {
	hello, err := greet(ctx, l, l.speaks, l.who)
	if err != nil {
		l.close() //nolint:contextcheck // it takes its own time, which is bounded
		return otherEra(err, l.speaks)
	}
	l.mu.Lock()
	l.hello = hello
	l.mu.Unlock()
	if l.speaks == oldEra && l.begin() {
		asked := make(chan struct{})
		go func() {
			defer l.work.Done()
			defer survive(l.log, l.end)
			l.listen(sync.OnceFunc(func() { close(asked) }))
		}()
		// What the server says because of the first request is heard, too. A server
		// may keep the beginning of its answer until it has something to say.
		late := time.NewTimer(openTime)
		defer late.Stop()
		select {
		case <-asked:
		case <-late.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// headerOf takes the headers of the configuration. Their values are in no error.
func headerOf(values map[string]string) (http.Header, error) {
	h := http.Header{}
	for name, value := range values {
		value = strings.TrimSpace(value)
		if !headerToken(name) {
			return nil, fmt.Errorf("headers: got %q, want a name of a header", short(name))
		}
		if !headerSafe(value) {
			return nil, fmt.Errorf("headers: the value of %s has a line break or another control character", name)
		}
		h.Set(name, value)
	}
	return h, nil
}

func (l *httpLink) greeting() *greeting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hello
}

func (l *httpLink) ended() <-chan struct{} { return l.life.Done() }

func (l *httpLink) why() error { return context.Cause(l.life) }

// begin is called before anything that close waits for; work.Done ends it. It is
// false when the link has ended.
func (l *httpLink) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing || l.life.Err() != nil {
		return false
	}
	l.work.Add(1)
	return true
}

// close ends what is under way, and then the session. One that the server has
// ended is not ended again.
func (l *httpLink) close() {
	l.once.Do(func() {
		gone := l.life.Err() != nil
		l.mu.Lock()
		l.closing = true
		session := l.session
		l.mu.Unlock()
		l.end(errClosed)
		l.work.Wait()
		if session != "" && !gone {
			l.leave()
		}
		l.transport.CloseIdleConnections()
	})
}

// leave tells the server that the session is over. Servers need not take it, so
// that the answer does not matter.
func (l *httpLink) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.life), l.farewell)
	defer cancel()
	res, _, err := l.roundTrip(ctx, http.MethodDelete, l.headers(), nil) //nolint:bodyclose // drainBody closes it
	if err != nil {
		l.log.DebugContext(ctx, "mcp: the session was not ended", slog.String("error", err.Error()))
		return
	}
	drainBody(res.Body)
}
