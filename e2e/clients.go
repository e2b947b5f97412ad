package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

//go:embed calls.mjs
var callsProgram []byte

// toolCall is a call of a tool by the server's own name for it.
type toolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitzero"` // nil: the call has none
}

// outcome is what a client got for a call: a result, or an error.
type outcome struct {
	Name   string          `json:"name"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// definition is a tool as it is listed.
type definition map[string]any

// errand is what one client does at one server.
type errand struct {
	generation string // of the client
	server     upstream
	calls      []toolCall
	atOnce     bool   // all calls at the same time
	who        string // what it answers to questions; "": what fits
	answer     object // what it answers to elicitations; nil: as who says
	silent     bool   // it answers none
	late       int    // milliseconds that its answer takes
	name       string // of the client; "": e2e
	together   int    // how many questions are open, of all errands, before one is answered
}

// visit is what one client got from one server: the definitions of all tools, and
// one outcome for each call.
type visit struct {
	listed   []definition
	outcomes []outcome
	err      error
}

// typescript runs errands at the same time, with the official TypeScript clients.
// One process is all clients: starting it takes longer than most calls.
func (w *world) typescript(ctx context.Context, errands []errand) ([]visit, error) {
	program, err := w.file("calls.mjs", callsProgram)
	if err != nil {
		return nil, err
	}
	var all []object
	together := 0
	for _, e := range errands {
		together = max(together, e.together)
		all = append(all, object{
			"generation": e.generation, "server": e.server.forClient(), "list": true,
			"calls": e.calls, "atOnce": e.atOnce, "who": e.who, "answer": e.answer, "silent": e.silent, "late": e.late, "name": e.name,
		})
	}
	text, err := json.Marshal(object{"packages": w.tools.script("clients", ""), "visits": all, "together": together})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	cmd := exec.Command(w.tools.node(), program) //nolint:gosec,noctx // output ends it, with its group
	cmd.Env, cmd.Stdin, cmd.Dir = w.tools.environment(), bytes.NewReader(text), w.dir
	out, err := output(ctx, "TypeScript client", cmd)
	if err != nil {
		return nil, err
	}
	return readVisits(out, errands)
}

// readVisits reads what calls.mjs prints.
func readVisits(out []byte, errands []errand) ([]visit, error) {
	visits := make([]visit, len(errands))
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var o struct {
			outcome
			Visitor int          `json:"visitor"`
			Tools   []definition `json:"tools"`
			Failed  string       `json:"failed"`
		}
		if err := json.Unmarshal(in.Bytes(), &o); err != nil || o.Visitor < 0 || o.Visitor >= len(visits) {
			return nil, fmt.Errorf("TypeScript client: got %q, want JSON of one of %d visitors: %w", in.Text(), len(visits), err)
		}
		v := &visits[o.Visitor]
		switch {
		case o.Failed != "":
			v.err = fmt.Errorf("TypeScript client %s: %s", errands[o.Visitor].generation, o.Failed)
		case o.Name == "":
			v.listed = o.Tools
		default:
			v.outcomes = append(v.outcomes, o.outcome)
		}
	}
	for i := range visits {
		if got, want := len(visits[i].outcomes), len(errands[i].calls); got != want && visits[i].err == nil {
			visits[i].err = fmt.Errorf("TypeScript client: got %d outcomes, want %d", got, want)
		}
	}
	return visits, in.Err()
}

// forClient is how calls.mjs reaches a server.
func (u upstream) forClient() map[string]any {
	if u.url != "" {
		return map[string]any{"url": u.url, "token": u.token}
	}
	s := map[string]any{"command": u.command[0], "args": u.command[1:]}
	if len(u.env) > 0 {
		s["env"] = u.env
	}
	if u.dir != "" {
		s["cwd"] = u.dir
	}
	return s
}
