package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// countIn has calls of the tools count, count_ask and count_read written to a file that many
// servers share: when each begins, and when it ends, with who ran it. A line is
// written at once, so that it is there even if the server is killed after it.
func (s *server) countIn(file string) error {
	if file == "" {
		return nil
	}
	var err error
	if s.book, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	const schema = `"inputSchema":{"type":"object","properties":{"id":{"type":"string"},"ms":{"type":"integer"}}}`
	s.tools = append(s.tools,
		json.RawMessage(`{"name":"count","description":"Write the id down.",`+schema+`}`),
		json.RawMessage(`{"name":"count_ask","description":"Write the id down, if a person lets it.",`+schema+`}`),
		// Who believes this may call it again, but not by himself.
		json.RawMessage(`{"name":"count_read","description":"Write the id down, and say that it only reads.","annotations":{"readOnlyHint":true,"idempotentHint":true},`+schema+`}`),
		json.RawMessage(`{"name":"large","description":"Say much.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}}`),
	)
	return s.note("start", "-")
}

func (s *server) note(what, id string) error {
	_, err := fmt.Fprintf(s.book, "%s %s %d\n", what, id, os.Getpid())
	return err
}

// counted is a call that was written down before anything else.
func (s *server) counted(p params) object {
	if err := s.note("call", p.Arguments.ID); err != nil {
		r := text(err.Error())
		r["isError"] = true
		return r
	}
	time.Sleep(time.Duration(p.Arguments.MS) * time.Millisecond)
	_ = s.note("done", p.Arguments.ID) // the answer says it too
	return text(p.Arguments.ID)
}
