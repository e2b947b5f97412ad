// Server is an MCP server for tests, over stdio. It is written by hand, so that
// it says exactly what a test wants and costs next to nothing.
//
//	server [-era 2025|2026] [-tools FILE] [-reads] [-open FILE] [-count FILE] [-http ADDRESS]
//
// Its tool ask asks its client a question, by a request of its own in the era of
// 2025 and by a result that asks for input in that of 2026; echo returns its
// argument. FILE holds definitions of more tools, one JSON object a line; they are
// listed, and echo, too. With -reads ask says that it only reads, so that its calls
// may run side by side. To the FILE of -open, which many processes may share, + is
// written when a question is asked and - when its answer has come. With -count it has
// tools that write down that they were called, and one whose results are large; with -http it is reached over HTTP,
// where it asks nothing.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"
)

func main() {
	era := flag.String("era", "", "the era that is spoken, 2025 or 2026; default: both")
	file := flag.String("tools", "", "a file with definitions of more tools")
	count := flag.String("count", "", "a file that calls of the tools count and count_read are written to")
	address := flag.String("http", "", "the address to listen on; default: stdio")
	reads := flag.Bool("reads", false, "ask says that it only reads")
	open := flag.String("open", "", "a file that is told how many questions are open")
	flag.Parse()
	s := &server{out: os.Stdout, era: *era, open: *open, waiting: make(map[string]chan json.RawMessage)}
	if err := s.load(*file, *reads); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
	err := s.countIn(*count)
	if err == nil && *address != "" {
		err = s.serveHTTP(*address)
	} else if err == nil {
		err = s.serve(os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

const (
	oldVersion = "2025-11-25"
	newVersion = "2026-07-28"
	versionKey = "io.modelcontextprotocol/protocolVersion"
)

type server struct {
	era   string
	open  string // "": nobody counts the questions
	tools []json.RawMessage
	book  *os.File // of calls; nil: none

	mu      sync.Mutex
	out     io.Writer
	asked   int
	waiting map[string]chan json.RawMessage // answers to what it asked, by id
}

// message is any of them.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

type object = map[string]any

// params are what the methods here read.
type params struct {
	Name      string `json:"name"`
	Arguments struct {
		Who  string `json:"who"`
		Text string `json:"text"`
		ID   string `json:"id"`
		MS   int    `json:"ms"`
		Size int    `json:"bytes"`
	} `json:"arguments"`
	State     string `json:"requestState"`
	Responses map[string]struct {
		Content object `json:"content"`
	} `json:"inputResponses"`
	Meta map[string]json.RawMessage `json:"_meta"`
}

// load reads definitions of tools.
func (s *server) load(file string, reads bool) error {
	hints := ""
	if reads {
		hints = `"annotations":{"readOnlyHint":true},`
	}
	s.tools = []json.RawMessage{
		json.RawMessage(`{"name":"ask","description":"Ask the client who it is.",` + hints + `"inputSchema":{"type":"object","properties":{"who":{"type":"string"}}}}`),
		json.RawMessage(`{"name":"echo","description":"Say it again.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`),
	}
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.tools = append(s.tools, json.RawMessage(line))
		}
	}
	return nil
}

// serve answers until stdin ends. Each request has a goroutine of its own.
func (s *server) serve(in io.Reader) error {
	var all sync.WaitGroup
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			s.take(text, &all)
		}
		if err != nil {
			s.hangUp()
			all.Wait()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// hangUp tells whoever waits for an answer that none will come.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.waiting {
		close(c)
		delete(s.waiting, id)
	}
}

func (s *server) take(text []byte, all *sync.WaitGroup) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.ID == nil {
		return // a notification, or nothing that can be answered
	}
	if m.Method == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		id := strings.Trim(string(m.ID), `"`)
		if c := s.waiting[id]; c != nil {
			c <- m.Result
			delete(s.waiting, id)
		}
		return
	}
	all.Go(func() {
		result, fault := s.answer(m.Method, m.Params)
		s.send(message{ID: m.ID, Result: result, Error: fault})
	})
}

func (s *server) send(m message) {
	m.Version = "2.0"
	text, err := json.Marshal(m)
	if err != nil { // a definition that is no JSON
		fmt.Fprintln(os.Stderr, "server:", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(text, '\n'))
}

func (s *server) answer(method string, raw json.RawMessage) (result, fault any) {
	var p params
	_ = json.Unmarshal(raw, &p) // what is not there is empty
	modern := p.Meta[versionKey] != nil
	switch {
	case modern && s.era == "2025", !modern && s.era == "2026" && method != "ping":
		return nil, object{"code": -32022, "message": "unsupported protocol version", "data": object{"supported": []string{s.version()}, "requested": strings.Trim(string(p.Meta[versionKey]), `"`)}}
	case method == "initialize":
		return object{"protocolVersion": oldVersion, "capabilities": object{"tools": object{}}, "serverInfo": info()}, nil
	case method == "server/discover":
		return complete(object{"supportedVersions": []string{newVersion}, "capabilities": object{"tools": object{}}, "serverInfo": info(), "ttlMs": 0, "cacheScope": "public"}, modern), nil
	case method == "ping":
		return object{}, nil
	case method == "tools/list":
		r := object{"tools": s.tools}
		if modern {
			r["ttlMs"], r["cacheScope"] = 0, "public"
		}
		return complete(r, modern), nil
	case method == "tools/call" && p.Name == "ask":
		return s.ask(p, modern), nil
	case method == "tools/call" && s.book != nil && strings.HasPrefix(p.Name, "count"):
		return complete(s.counted(p), modern), nil
	case method == "tools/call" && s.book != nil && p.Name == "large":
		const line = "one line of many that are all the same\n"
		return complete(text(strings.Repeat(line, max(0, p.Arguments.Size)/len(line))), modern), nil
	case method == "tools/call":
		return complete(text(p.Arguments.Text), modern), nil
	}
	return nil, object{"code": -32601, "message": "method not found: " + method}
}

func (s *server) version() string {
	if s.era == "2025" {
		return oldVersion
	}
	return newVersion
}

func info() object { return object{"name": "e2e-server", "version": "1"} }

func text(t string) object {
	return object{"content": []object{{"type": "text", "text": t}}}
}

// complete makes a result one of the new era.
func complete(r object, modern bool) object {
	if modern {
		r["resultType"] = "complete"
		r["_meta"] = object{"io.modelcontextprotocol/serverInfo": info()}
	}
	return r
}

// ask asks the client, in its own era, after a short while, so that many
// questions are open at once and come in another order than the calls.
func (s *server) ask(p params, modern bool) object {
	question := object{
		"mode": "form", "message": p.Arguments.Who,
		"requestedSchema": object{"type": "object", "properties": object{"by": object{"type": "string"}, "asked": object{"type": "string"}}},
	}
	if modern {
		if r, ok := p.Responses["who"]; ok {
			s.count("-")
			return complete(text(fmt.Sprintf("%v was asked %v about %s", r.Content["by"], r.Content["asked"], p.State)), true)
		}
		pause()
		r := complete(object{"inputRequests": object{"who": object{"method": "elicitation/create", "params": question}}, "requestState": p.Arguments.Who}, true)
		r["resultType"] = "input_required"
		s.count("+")
		return r
	}
	pause()
	s.mu.Lock()
	s.asked++
	id := fmt.Sprintf("ask-%d", s.asked)
	answered := make(chan json.RawMessage, 1)
	s.waiting[id] = answered
	s.mu.Unlock()
	raw, _ := json.Marshal(question)
	quoted, _ := json.Marshal(id)
	s.count("+")
	s.send(message{ID: quoted, Method: "elicitation/create", Params: raw})
	var r struct{ Content object }
	_ = json.Unmarshal(<-answered, &r)
	s.count("-")
	return text(fmt.Sprintf("%v was asked %v about %s", r.Content["by"], r.Content["asked"], p.Arguments.Who))
}

// count says that one more question is open, or one less.
func (s *server) count(sign string) {
	if s.open == "" {
		return
	}
	f, err := os.OpenFile(s.open, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(sign)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
	}
}

func pause() {
	time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond) //nolint:gosec // any order will do
}
