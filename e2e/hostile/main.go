// Hostile is an MCP server that does what servers must not do.
//
//	hostile -as KIND [-http ADDRESS]
//
// A call of its tool go does it; kinds that lie about their tools do so whenever
// they are listed. The kinds:
//
//	many      5,000 tools
//	long      descriptions of 10 MB
//	names     invalid schemas, names that collide and that imitate others
//	changing  other tools each time it is asked
//	huge      a result of 100 MB
//	endless   a stream of messages that does not end
//	line      a message that does not end
//	silent    no answer
//	unknown   answers to what nobody asked
//	garbage   what is no message
//	flood     says 20,000 times that its list has changed
//	asks      asks the client when it may not
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
)

func main() {
	kind := flag.String("as", "", "what it does")
	address := flag.String("http", "", "the address to listen on; default: stdio")
	flag.Parse()
	s := &server{kind: *kind}
	if _, ok := deeds()[s.kind]; !ok && !liesOnly(s.kind) {
		fmt.Fprintf(os.Stderr, "hostile: -as: got %q\n", s.kind)
		os.Exit(2)
	}
	serve := func() error { return s.serve(os.Stdin, os.Stdout) }
	if *address != "" {
		serve = func() error { return s.serveHTTP(*address) }
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

type object = map[string]any

type server struct {
	kind string

	mu     sync.Mutex
	listed int // how often
}

// request is what a client sent.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

func (r *request) modern() bool { return r.Params.Meta[versionKey] != nil }

const (
	oldVersion = "2025-11-25"
	newVersion = "2026-07-28"
	versionKey = "io.modelcontextprotocol/protocolVersion"
)

// out is where messages go to.
type out interface {
	// write writes one message, which f may write bit by bit.
	write(f func(io.Writer) error) error
}

// send writes a message.
func send(to out, m object) error {
	m["jsonrpc"] = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return sendText(to, string(text))
}

func sendText(to out, text string) error {
	return to.write(func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// lines are messages over stdio.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) write(f func(io.Writer) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := f(l.w); err != nil {
		return err
	}
	_, err := io.WriteString(l.w, "\n")
	return err
}

// serve answers until stdin ends, and then does not wait for what runs: some of
// that has no end.
func (s *server) serve(in io.Reader, w io.Writer) error {
	to := &lines{w: w}
	text := bufio.NewReader(in)
	for {
		line, err := text.ReadBytes('\n')
		var r request
		if json.Unmarshal(line, &r) == nil && r.ID != nil && r.Method != "" {
			go s.handle(&r, to)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// handle answers a request, or does not.
func (s *server) handle(r *request, to out) {
	if r.Method == "tools/call" {
		s.misbehave(r, to)
		return
	}
	result, fault := s.answer(r)
	reply(to, r, result, fault)
}

func reply(to out, r *request, result object, fault any) {
	m := object{"id": r.ID}
	if fault != nil {
		m["error"] = fault
	} else {
		m["result"] = complete(r, result)
	}
	_ = send(to, m) // who has gone hears nothing
}

// complete makes a result one of the new era.
func complete(r *request, result object) object {
	if r.modern() {
		result["resultType"] = "complete"
	}
	return result
}

func (s *server) answer(r *request) (result object, fault any) {
	info := object{"name": "hostile", "version": "1"}
	can := object{"tools": object{"listChanged": true}}
	switch r.Method {
	case "initialize":
		return object{"protocolVersion": oldVersion, "capabilities": can, "serverInfo": info}, nil
	case "server/discover":
		return object{"supportedVersions": []string{newVersion}, "capabilities": can, "serverInfo": info, "ttlMs": 0, "cacheScope": "public"}, nil
	case "ping":
		return object{}, nil
	case "tools/list":
		s.mu.Lock()
		s.listed++
		n := s.listed
		s.mu.Unlock()
		result = object{"tools": toolsOf(s.kind, n)}
		if r.modern() {
			result["ttlMs"], result["cacheScope"] = 0, "public"
		}
		return result, nil
	}
	return nil, object{"code": -32601, "message": "method not found: " + r.Method}
}
