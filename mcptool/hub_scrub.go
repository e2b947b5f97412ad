package mcptool

import (
	"context"
	"log/slog"
)

// scrub takes the secrets of the runtime out of a text that leaves for the log or
// for a person (K3): servers are given them, and may write them anywhere.
func (h *Hub) scrub(text string) string {
	if h == nil || h.Runtime == nil {
		return text
	}
	clean, _ := h.Runtime.Secrets.Scrub(text)
	return clean
}

// scrubLog is scrub for the log, which gets nothing that looks like a key either (G5).
func (h *Hub) scrubLog(text string) string {
	text = h.scrub(text)
	if h.Runtime == nil || !h.Runtime.Guard.Redacts() {
		return text
	}
	h.looking.Do(func() {
		r := h.Runtime.Guard.Redactor()
		h.keyless = func(text string) string {
			clean, _, err := r.Redact(text)
			if err != nil {
				return "[withheld: it could not be looked through for keys]"
			}
			return clean
		}
	})
	return h.keyless(text)
}

// veil has a value that a server granted scrubbed like a secret of the runtime.
func (h *Hub) veil(name string) func(value string) {
	return func(value string) {
		if err := h.Runtime.Secrets.Hide(name, value); err != nil {
			h.log().Warn("a token may be seen in results", slog.String("why", err.Error()))
		}
	}
}

// clean is scrub for a server that may have none.
func (s *Server) clean(text string) string {
	if s.scrub == nil {
		return text
	}
	return s.scrub(text)
}

// scrubbing is a handler that logs nothing secret.
type scrubbing struct {
	slog.Handler

	scrub func(string) string
}

// Handle logs a record without what is secret.
func (s scrubbing) Handle(ctx context.Context, r slog.Record) error { //nolint:gocritic // the signature is slog's
	clean := slog.NewRecord(r.Time, r.Level, s.scrub(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(s.attr(a))
		return true
	})
	return s.Handler.Handle(ctx, clean)
}

// WithAttrs is a handler that logs these too.
func (s scrubbing) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = s.attr(a)
	}
	return scrubbing{s.Handler.WithAttrs(clean), s.scrub}
}

// WithGroup is a handler whose attributes are in a group.
func (s scrubbing) WithGroup(name string) slog.Handler {
	return scrubbing{s.Handler.WithGroup(name), s.scrub}
}

// attr is an attribute without what is secret. What is no text, and no number or
// time either, becomes one: nothing else can be looked through.
func (s scrubbing) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString, slog.KindAny:
		return slog.String(a.Key, s.scrub(v.String()))
	case slog.KindGroup:
		clean := make([]slog.Attr, 0, len(v.Group()))
		for _, in := range v.Group() {
			clean = append(clean, s.attr(in))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindLogValuer:
	}
	return slog.Attr{Key: a.Key, Value: v}
}
