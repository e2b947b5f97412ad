package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/telemetry"
	"github.com/ferrule-dev/ferrule/tool"
)

// metricsPath is where Prometheus fetches metrics.
const metricsPath = "/metrics"

// telemetry has what happens told to whom the configuration names. It is closed when
// everything else is.
func (p *program) telemetry(ctx context.Context, h *host, o hosting) error {
	c := &h.config.Telemetry
	fetched := c.Prometheus && o.fetched
	if o.looks || o.asks || o.bare || !c.OTLP && !fetched {
		return nil
	}
	filled, err := config.Server{Header: c.Headers}.Filled(p.lookup, func(name string) (string, error) {
		return valueFor(ctx, h.rt.Secrets, telemetryUses, name)
	})
	if err != nil {
		return usage("telemetry: %w", err)
	}
	rt := h.rt
	t, err := telemetry.New(ctx, telemetry.Options{
		Service: client, Version: thisVersion().Version, OTLP: c.OTLP, NoTraces: c.NoTraces, NoMetrics: c.NoMetrics,
		Endpoint: c.Endpoint, Headers: filled.Header, Interval: c.Interval, Sample: c.Sample, Prometheus: fetched,
		Content: c.Content, Accepts: func(s tool.Sensitivity) bool { return rt.Guard.Accepts(guard.Exporter, s) },
		Log: o.log,
	})
	if err != nil {
		return usage("%w", err)
	}
	h.atEnd(t.Close)
	h.tells, rt.Trace, h.hub.GiveTrace = t, t.Call, t.Give
	t.Servers(func(tell func(server, state string, restarts int)) {
		for _, s := range h.hub.Status() {
			tell(s.Name, s.State, s.Restarts)
		}
	})
	return nil
}

// logCalls has a line logged for each call that ends, where somebody reads so much. The
// text of an error may quote what the call was given and returned: it passes the rules of
// the log.
func logCalls(g *guard.Guard, log *slog.Logger, observe func(audit.Event)) func(audit.Event) {
	if log == nil || !log.Enabled(context.Background(), slog.LevelDebug) {
		return observe
	}
	return func(e audit.Event) {
		if observe != nil {
			observe(e)
		}
		if e.Kind != audit.Ended || e.Request == nil || e.Result == nil {
			return
		}
		r, name, outcome := e.Request, "_OTHER", "ok"
		if r.Tool != nil { // else a model has made the name up
			name = r.Name
		}
		list := []slog.Attr{
			slog.String("source", r.Source.Name), slog.String("session", e.Session), slog.Int("turn", e.Turn),
			slog.String("call", r.ID), slog.Duration("took", e.Took),
		}
		if err := e.Result.Err; err != nil {
			outcome = string(err.Kind)
			list = append(list, slog.String("error", forLog(g, r, err)))
		}
		list = append([]slog.Attr{slog.String("tool", name), slog.String("outcome", outcome)}, list...)
		log.LogAttrs(context.Background(), slog.LevelDebug, "call", list...)
	}
}

// forLog is an error as the log may hold it.
func forLog(g *guard.Guard, r *tool.Request, err *tool.Error) string {
	if r.Tool == nil {
		return guard.Withheld(tool.Secret)
	}
	for _, s := range []tool.Sensitivity{r.Tool.InputSensitivity, r.Tool.OutputSensitivity} {
		if !g.Accepts(guard.Log, s) {
			return guard.Withheld(s)
		}
	}
	return err.Error()
}

// metrics serves what Prometheus fetches to who has the token for it: one that neither
// calls tools nor allows calls. It is made once and kept in the state directory.
func metrics(state string, from http.Handler) (http.Handler, error) {
	token, err := metricsToken(state)
	if err != nil {
		return nil, err
	}
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", `Bearer realm="ferrule"`)
			http.Error(w, fmt.Sprintf("want the token that is in the file metrics-token of the state directory, as Authorization: Bearer TOKEN: see %s in docs/telemetry.md", metricsPath), http.StatusUnauthorized)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "got "+r.Method+", want GET", http.StatusMethodNotAllowed)
		default:
			from.ServeHTTP(w, r)
		}
	}), nil
}
