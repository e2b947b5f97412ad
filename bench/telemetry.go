package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/telemetry"
)

// Names of works that others are compared with.
const (
	untoldCall = "one no-op Cooperative call, telemetry off"
	toldCall   = "one no-op Cooperative call, telemetry on: traced, measured and sent"
)

// telemetryWorks are what a call costs of which somebody is told: its span is written
// and sent to a collector on this machine, which drops it, and its time is counted for
// the collector and for Prometheus. What is sent is part of the figure: time is that of
// all cores.
func telemetryWorks(ctx context.Context) ([]work, error) {
	at, err := droppingCollector(ctx)
	if err != nil {
		return nil, err
	}
	var list []work
	for _, w := range []struct {
		name   string
		allocs int64
		o      telemetry.Options
	}{
		{untoldCall, 14, telemetry.Options{}},
		{toldCall, 24, telemetry.Options{OTLP: true, Endpoint: at, Prometheus: true}},
	} {
		rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
		told, err := telemetry.New(ctx, w.o)
		if err != nil {
			return nil, err
		}
		if told != nil {
			rt.Trace = told.Call
		}
		t, err := noop(true)
		if err != nil {
			return nil, err
		}
		s, err := ownWith(rt, t) //nolint:contextcheck // adding tools waits for nothing
		if err != nil {
			return nil, err
		}
		list = append(list, work{w.name, 0, w.allocs, doSimilar(ctx, s.View(ctx), 1)})
	}
	return list, nil
}

// droppingCollector takes what it is sent, for as long as the process lives.
func droppingCollector(ctx context.Context) (url string, err error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	})}
	go func() { _ = s.Serve(ln) }() // it ends with the process
	return "http://" + ln.Addr().String(), nil
}
