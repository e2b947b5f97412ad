package mcptool

import (
	"context"
	"encoding/json"
	"net/http"
)

// traceFields are what trace context is called: as members of _meta and, over HTTP,
// as headers.
func traceFields() []string { return []string{"traceparent", "tracestate"} }

// maxTraceField is how long one of them may be.
const maxTraceField = 1024

type arrivedKey struct{}

// arrived is a request over HTTP whose headers may say what it is part of.
func arrived(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), arrivedKey{}, r.Header))
}

// traced makes a dialogue part of what its client traces. What the request itself says
// counts before what the connection that it came by says. ctx is that of the request.
func (d *dialogue) traced(ctx context.Context) {
	take := d.client.gate.TakeTrace
	if take == nil {
		return
	}
	header, _ := ctx.Value(arrivedKey{}).(http.Header)
	get := func(key string) string {
		if value := header.Get(key); len(value) <= maxTraceField {
			return value
		}
		return ""
	}
	if value, _ := metaMember(d.given, traceFields()[0]); value != nil {
		get = func(key string) string {
			value, _ := metaMember(d.given, key)
			if len(value) > maxTraceField {
				return ""
			}
			text, _ := unquote(value)
			return text
		}
	}
	d.ctx = take(d.ctx, get)
}

type tracedKey struct{}

// traced makes a request to a server part of what is traced here.
func (h *Hub) traced(ctx context.Context, params json.RawMessage) (context.Context, json.RawMessage) {
	if h.GiveTrace == nil {
		return ctx, params
	}
	header := make(http.Header, 2)
	h.GiveTrace(ctx, func(key, value string) {
		if value != "" && len(value) <= maxTraceField && headerSafe(value) {
			header.Set(key, value)
		}
	})
	if len(header) == 0 {
		return ctx, params
	}
	pairs := make([]pair, 0, 2)
	for _, key := range traceFields() {
		p := pair{key: key} // what the client said of itself goes
		if value := header.Get(key); value != "" {
			p.value = quote(value)
		}
		pairs = append(pairs, p)
	}
	return context.WithValue(ctx, tracedKey{}, header), setMeta(params, pairs...)
}

// tracedHeaders are those that Hub.traced has put into a context.
func tracedHeaders(ctx context.Context) http.Header {
	h, _ := ctx.Value(tracedKey{}).(http.Header)
	return h
}
