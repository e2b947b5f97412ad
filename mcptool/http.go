package mcptool

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// HTTP is how a gateway is served over HTTP.
type HTTP struct {
	// Tokens are the bearer tokens, each with the principal it names. A request
	// without one of them is refused, unless Open.
	Tokens map[string]string
	Open   bool // anybody may call, as principal local
	// Hosts are the values of Host and Origin that are taken, beside loopback
	// names when the request came to a loopback address. Nil: only those. A host
	// without a port is taken with any, and one with a scheme as an Origin only.
	Hosts []string
	// Attended: a person is there who can be asked, whoever calls.
	Attended bool
	// MaxBody is how long a request may be. 0: 16 MiB.
	MaxBody int64
	// Idle is how long a session of the old era lasts without a request. 0: 1 h.
	Idle time.Duration
}

// Handler serves the gateway over streamable HTTP, both eras on one address.
//
// It bounds what it reads and how long it waits for it, and how long a client may
// take to read. How long headers are, how long they may take and how long an idle
// connection is kept belongs to the [http.Server]: set MaxHeaderBytes,
// ReadHeaderTimeout and IdleTimeout there, and neither ReadTimeout nor
// WriteTimeout, which would end streams that are meant to last.
func (g *Gateway) Handler(o HTTP) http.Handler {
	d := newDoor(o, g.admit)
	d.log, d.closing, d.schema, d.traced = g.Log, g.closing, g.inputSchema, g.TakeTrace != nil
	return d
}

// inputSchema is the schema of a tool of a server, by the name that clients know.
func (g *Gateway) inputSchema(name string) json.RawMessage {
	r, ok := g.Runtime.Find(name)
	if !ok {
		return nil
	}
	schema, _ := member(g.definition(&r), "inputSchema")
	return schema
}

// bounds are what a door keeps to.
type bounds struct {
	requests int64         // at once
	streams  int64         // that wait for what may come, at once
	bodies   int64         // bytes of all bodies under way
	sessions int           // of one principal
	kept     int64         // bytes of events, to be sent again, of one session
	keptAll  int64         // and of all
	read     time.Duration // for a body to arrive
	write    time.Duration // for one write to be taken
	prime    time.Duration // until a client is told the id of a stream that says nothing
	beat     time.Duration // between signs of life
	linger   time.Duration // how long what belongs to no request is kept for a client that has gone
}

func usualBounds() bounds {
	return bounds{
		requests: 1024,
		streams:  4096,
		bodies:   256 << 20,
		sessions: 1000,
		kept:     4 << 20,
		keptAll:  128 << 20,
		read:     30 * time.Second,
		write:    30 * time.Second,
		prime:    20 * time.Millisecond,
		beat:     15 * time.Second,
		linger:   time.Minute,
	}
}

// door serves the clients that come over HTTP.
type door struct {
	HTTP
	bounds
	join    joins
	closing func() bool // no more requests are taken; nil: they are
	log     *slog.Logger
	tokens  []credential
	// schema is the input schema of a tool; nil: not known.
	schema func(tool string) json.RawMessage
	traced bool // what headers say of traces is looked at

	requests, streams crowd
	bodies, kept      atomic.Int64 // now

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
}

func newDoor(o HTTP, join joins) *door {
	if o.MaxBody <= 0 {
		o.MaxBody = 16 << 20
	}
	if o.Idle <= 0 {
		o.Idle = time.Hour
	}
	return &door{
		HTTP: o, bounds: usualBounds(), join: join,
		tokens: credentials(o.Tokens), sessions: make(map[string]*session),
	}
}

// ServeHTTP serves one request: who asks is looked at before what is asked.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := &replier{ResponseWriter: w}
	defer d.recovered(reply, r)
	if r.ContentLength != 0 { // also of who is refused before it was read; who is not has this taken back then
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d.read)) // see body
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if !d.hostAllowed(r) {
		reply.refuse(http.StatusForbidden, "this Host is not served here")
		return
	}
	if !d.originAllowed(r) {
		reply.refuse(http.StatusForbidden, "this Origin may not call")
		return
	}
	principal, ok := d.principal(r)
	if !ok {
		h.Set("WWW-Authenticate", `Bearer realm="ferrule"`)
		reply.refuse(http.StatusUnauthorized, d.refusal(r))
		return
	}
	if d.isClosed() {
		reply.busy("the gateway is stopping")
		return
	}
	done, ok := d.admit(principal, waits(r))
	if !ok {
		reply.busy("too many requests at once")
		return
	}
	defer done()
	if d.traced {
		r = arrived(r)
	}
	d.route(reply, r, principal)
}

// route takes a request to its era.
func (d *door) route(w *replier, r *http.Request, principal string) {
	version := r.Header.Get(fieldVersion)
	switch {
	case r.Method == http.MethodPost && (version == newVersion || !oldEraVersion(version)):
		d.serveNew(w, r, principal, version)
	case r.Method == http.MethodPost:
		d.postOld(w, r, principal, version)
	case version == newVersion:
		w.Header().Set("Allow", "POST")
		w.refuse(http.StatusMethodNotAllowed, "only POST is served in "+newVersion)
	case r.Method == http.MethodGet:
		d.getOld(w, r, principal, version)
	case r.Method == http.MethodDelete:
		d.deleteOld(w, r, principal, version)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		w.refuse(http.StatusMethodNotAllowed, "got "+r.Method+", want GET, POST or DELETE")
	}
}

// recovered keeps a panic from ending the process, and tells the client that
// nothing will come if it was told nothing yet.
func (d *door) recovered(w *replier, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	d.logPanic(r.Context(), v)
	if !w.wrote {
		w.fault(http.StatusInternalServerError, nil, &Fault{Code: codeInternal, Message: "internal error"})
	}
}

// recoverLog keeps a panic on a goroutine of its own from ending the process.
func (d *door) recoverLog(ctx context.Context) {
	if v := recover(); v != nil {
		d.logPanic(ctx, v)
	}
}

func (d *door) logPanic(ctx context.Context, v any) {
	if d.log != nil {
		d.log.LogAttrs(ctx, slog.LevelError, "a handler panicked",
			slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	}
}

func (d *door) isClosed() bool {
	if d.closing != nil && d.closing() {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// close takes no more requests, and ends all sessions and with them their
// streams.
func (d *door) close() {
	d.mu.Lock()
	d.closed = true
	all := slices.Collect(maps.Values(d.sessions))
	d.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(s.end)
	}
	wg.Wait()
}
