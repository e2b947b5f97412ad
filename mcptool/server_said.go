package mcptool

import (
	"encoding/json"
	"errors"

	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/tool"
)

// This file is about what servers say to clients beside the results of tools. It is not
// marked as a stranger's: what is no text for a model is read by programs, or by persons.

// methodSample is how a server asks the model of a client.
const methodSample = "sampling/createMessage"

// shown is what a server says without what nobody sees in its texts.
func (s *server) shown(said json.RawMessage) json.RawMessage {
	if s.hub == nil || s.hub.Runtime == nil {
		return said
	}
	return s.hub.Runtime.Guard.Shown(s.source(), "*", said)
}

// anyTool names all that the server says to the guard.
func (s *server) anyTool() *tool.Request {
	return &tool.Request{Name: s.Name + "__*", Source: s.source(), Tool: &tool.Info{Name: "*"}}
}

// faulted is an error of a request that was sent on, as its client is told it: the text
// and the data of a server's fault are looked through.
func (d *dialogue) faulted(s *server, err error) error {
	f := (*Fault)(nil)
	if !errors.As(err, &f) || f == nil {
		return err
	}
	said := setMembers(nil, pair{"message", quote(f.Message)}, pair{"data", f.Data})
	clean, report := d.face.session.Look(s.anyTool(), said)
	switch {
	case report.How == guard.Pass:
		return err
	case report.Unsafe:
		return &Fault{Code: f.Code, Message: "What the server said reads like an attempt to steer a model, so it was withheld."}
	}
	clean = s.shown(clean)
	told := &Fault{Code: f.Code, Message: textMember(clean, "message")}
	told.Data, _ = member(clean, "data")
	if note := report.Note(); note != "" {
		told.Message += "\n" + note
	}
	return told
}

// asks are the params of a request of the server, as its client is to get them. What it
// asks the client's model is looked through; an error is that it must not be asked.
func (s *server) asks(a audience, method string, params json.RawMessage) (json.RawMessage, error) {
	if f, ok := a.(*face); ok && method == methodSample && f.session != nil {
		clean, report := f.session.Look(s.anyTool(), params)
		if report.Unsafe {
			return nil, &Fault{Code: codeInvalidParams, Message: methodSample + ": the client is not asked: the request reads like an attempt to steer its model"}
		}
		params = clean
	}
	return s.shown(askedBy(s.Name, method, params)), nil
}

// asksAll is a result that asks for input, as the client is to get it.
func (s *server) asksAll(a audience, required json.RawMessage) (json.RawMessage, error) {
	questions, _ := member(required, "inputRequests")
	if kindOf(questions) != '{' {
		return s.shown(required), nil
	}
	var (
		all    []pair
		failed error
	)
	each(questions, func(key string, q json.RawMessage) {
		if params, _ := member(q, "params"); kindOf(params) == '{' && failed == nil {
			params, failed = s.asks(a, textMember(q, "method"), params)
			q = setMembers(unmistaken(q, "method", "params"), pair{"params", params})
		}
		all = append(all, pair{key, q})
	})
	if failed != nil {
		return nil, failed
	}
	return s.shown(setMembers(unmistaken(required, "inputRequests"), pair{"inputRequests", setMembers(nil, all...)})), nil
}
