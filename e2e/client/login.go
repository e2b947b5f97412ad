package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/mcptool"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// document is the client's own that the suite knows.
const document = "https://conformance-test.local/client-metadata.json"

// inside is a gateway in this process with the server behind it, that is logged in
// to when it wants that. known is what the suite says about the client, as JSON.
func inside(ctx context.Context, url, known string) (*client, error) {
	registered := struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}{ID: document}
	if known != "" {
		if err := json.Unmarshal([]byte(known), &registered); err != nil {
			return nil, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	rt := &ferrule.Runtime{Policy: policy.Func(func(*tool.Request) tool.Decision {
		return tool.Decision{Verdict: tool.Allow}
	})}
	hub := &mcptool.Hub{Runtime: rt, Log: log, Servers: []mcptool.Server{{
		Name: "suite", URL: url, Trust: tool.Own, Unprefixed: true,
		Login: mcptool.Login{
			Open: follow, Redirect: "http://localhost:3000/callback",
			ClientID: registered.ID, ClientSecret: registered.Secret,
		},
	}}}
	if err := hub.Start(ctx); err != nil {
		return nil, err
	}
	gate := &mcptool.Gateway{Runtime: rt, Hub: hub, Log: log, Mode: func(string) mcptool.Mode { return mcptool.Full }}
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := gate.ServeStdio(ctx, theirs, ours, tool.Caller{})
		served <- errors.Join(err, gate.Close(ctx), hub.Close(ctx), rt.Close(ctx), ours.Close())
	}()
	lost := func() error {
		if s := hub.Status()[0]; s.State == "waiting" {
			return errors.New(s.Why)
		}
		return nil
	}
	return &client{in: in, out: bufio.NewReader(out), wait: func() error { return <-served }, lost: lost}, nil
}

// follow is the person: the suite's authorization server sends the browser back at
// once.
func follow(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	back, err := res.Location()
	if err != nil {
		return "", fmt.Errorf("the authorization server answered with status %d", res.StatusCode)
	}
	return back.String(), nil
}
