package mcptool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// message is one message of JSON-RPC. What it carries stays as the bytes it was.
type message struct {
	id     json.RawMessage // nil: a notification, or an answer to nothing that could be read
	method string          // "": an answer
	params json.RawMessage // nil: none
	result json.RawMessage // of an answer that is no fault
	fault  *Fault          // of an answer
}

func (m message) isRequest() bool      { return m.method != "" && m.id != nil }
func (m message) isNotification() bool { return m.method != "" && m.id == nil }
func (m message) isAnswer() bool       { return m.method == "" }

// Fault is an error of JSON-RPC, as one side says it to the other.
type Fault struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error is what went wrong and its code, without the data.
func (f *Fault) Error() string { return fmt.Sprintf("%s (code %d)", f.Message, f.Code) }

// Codes of faults.
const (
	codeParse         = -32700
	codeInvalid       = -32600
	codeNoMethod      = -32601
	codeInvalidParams = -32602
	codeInternal      = -32603
)

// How long one message may be, in bytes: of a client; of a server; and of a server
// while its lists are asked for, which may be long.
const (
	maxLine    = 64 << 20
	maxMessage = 16 << 20
	maxPage    = 32 << 20
	// maxSkipped is how much is read of one that is too long, so that what comes
	// after it can be.
	maxSkipped = 256 << 20
)

// parseMessage reads one message. Its parts are slices of b. An error is a
// *Fault to answer with; where the id could be read it is in the message even
// then, so that the answer, or who waits for one, can be found.
//
// What is checked is what both sides must agree on: no member of the message, and
// none of its params, is there twice, since one side would read the first and the
// other the last. Params and results are objects in MCP; params that are null are
// none.
func parseMessage(b []byte) (message, error) {
	if !utf8.Valid(b) {
		return message{}, &Fault{Code: codeParse, Message: "not UTF-8"}
	}
	s := scanner{b: b}
	var e envelope
	if s.space(); s.peek() != '{' {
		if s.value() && s.atEnd() {
			return message{}, invalid("a message is an object")
		}
		return message{}, &Fault{Code: codeParse, Message: "not JSON"}
	}
	ok := s.object(func(key string, value json.RawMessage) { e.member(key, value) })
	if !ok || !s.atEnd() {
		return message{}, &Fault{Code: codeParse, Message: "not JSON"}
	}
	return e.message()
}

func invalid(format string, args ...any) *Fault {
	return &Fault{Code: codeInvalid, Message: fmt.Sprintf(format, args...)}
}

// envelope is the first level of a message while it is read. Nil: not there.
type envelope struct {
	version, id, method, params, result, fault json.RawMessage

	twice string
}

func (e *envelope) member(key string, value json.RawMessage) {
	var at *json.RawMessage
	switch key {
	case "jsonrpc":
		at = &e.version
	case "id":
		at = &e.id
	case "method":
		at = &e.method
	case "params":
		at = &e.params
	case "result":
		at = &e.result
	case "error":
		at = &e.fault
	default:
		return
	}
	if *at != nil {
		e.twice = key
	}
	*at = value
}

func (e *envelope) message() (message, error) {
	var m message
	switch kind := kindOf(e.id); {
	case e.twice == "id":
		return m, invalid("id is there twice")
	case kind == '"' || kind == '0':
		m.id = e.id
	case e.id != nil && (kind != 'n' || e.fault == nil):
		// Only a fault may have no id: what it answers could not be read.
		return m, invalid("id: got %s, want a string or a number", kindName(kind))
	}
	if e.twice != "" {
		return m, invalid("%s is there twice", e.twice)
	}
	if version, ok := unquote(e.version); !ok || version != "2.0" {
		return m, invalid(`jsonrpc: want "2.0"`)
	}
	if e.method != nil {
		return m, e.call(&m)
	}
	return m, e.answer(&m)
}

func (e *envelope) call(m *message) error {
	if e.result != nil || e.fault != nil {
		return invalid("a message with a method has no result and no error")
	}
	method, ok := unquote(e.method)
	if !ok || method == "" {
		return invalid("method: want a string that is not empty")
	}
	switch kind := kindOf(e.params); kind {
	case '{':
		if key, twice := repeated(e.params); twice {
			return invalid("params: %q is there twice", short(key))
		}
		m.params = e.params
	case 0, 'n':
	default:
		return invalid("params: got %s, want an object", kindName(kind))
	}
	m.method = method
	return nil
}

func (e *envelope) answer(m *message) error {
	switch {
	case e.result == nil && e.fault == nil:
		return invalid("want a method, a result or an error")
	case e.result != nil && e.fault != nil:
		return invalid("an answer has a result or an error, not both")
	case e.params != nil:
		return invalid("an answer has no params")
	case e.result != nil && e.id == nil:
		return invalid("a result has an id")
	case e.result != nil:
		if kind := kindOf(e.result); kind != '{' {
			return invalid("result: got %s, want an object", kindName(kind))
		}
		m.result = e.result
		return nil
	}
	f, err := parseFault(e.fault)
	m.fault = f
	return err
}

// parseFault reads the error of an answer.
func parseFault(raw json.RawMessage) (*Fault, error) {
	if kindOf(raw) != '{' {
		return nil, invalid("error: got %s, want an object", kindName(kindOf(raw)))
	}
	if key, twice := repeated(raw); twice {
		return nil, invalid("error: %q is there twice", short(key))
	}
	var f Fault
	number, _ := member(raw, "code")
	code, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || int64(int(code)) != code {
		return nil, invalid("error.code: want an integer")
	}
	text, _ := member(raw, "message")
	said, ok := unquote(text)
	if !ok {
		return nil, invalid("error.message: want a string")
	}
	f.Code, f.Message = int(code), said
	f.Data, _ = member(raw, "data")
	return &f, nil
}

// append writes the message as one line without its end.
func (m message) append(b []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	switch {
	case m.id != nil:
		b = appendFlat(append(b, `,"id":`...), m.id)
	case m.isAnswer():
		b = append(b, `,"id":null`...)
	}
	switch {
	case m.method != "":
		b = appendString(append(b, `,"method":`...), m.method)
		if len(m.params) > 0 {
			b = appendFlat(append(b, `,"params":`...), m.params)
		}
	case m.fault != nil:
		b = strconv.AppendInt(append(b, `,"error":{"code":`...), int64(m.fault.Code), 10)
		b = appendString(append(b, `,"message":`...), m.fault.Message)
		if len(m.fault.Data) > 0 {
			b = appendFlat(append(b, `,"data":`...), m.fault.Data)
		}
		b = append(b, '}')
	case len(m.result) > 0:
		b = appendFlat(append(b, `,"result":`...), m.result)
	default:
		b = append(b, `,"result":{}`...)
	}
	return append(b, '}')
}

// appendFlat appends JSON without line breaks. A string of JSON has none, so that
// those there are stand between its parts and mean nothing.
func appendFlat(b []byte, raw json.RawMessage) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return append(b, raw...)
	}
	for _, c := range raw {
		if c != '\n' && c != '\r' {
			b = append(b, c)
		}
	}
	return b
}

// maxBatch is how many messages a batch may have.
const maxBatch = 100

// isBatch reports whether b is an array, or the beginning of one.
func isBatch(b []byte) bool {
	s := scanner{b: b}
	s.space()
	return s.peek() == '['
}

// splitServerBatch is splitBatch for what a server says, of which nothing is answered
// one by one: what cannot hold messages is not read to its end.
func splitServerBatch(b []byte) ([]json.RawMessage, error) {
	s := scanner{b: b}
	s.space()
	s.i++
	if s.space(); s.peek() != '{' && s.peek() != ']' {
		return nil, invalid("a batch of what are no objects")
	}
	return splitBatch(b)
}

// splitBatch gives the messages of a batch, which are not parsed yet. An error is
// a *Fault to answer with.
func splitBatch(b []byte) ([]json.RawMessage, error) {
	s := scanner{b: b}
	var all []json.RawMessage
	many := 0
	s.space()
	ok := s.array(func(item json.RawMessage) {
		if many++; many <= maxBatch {
			all = append(all, item)
		}
	})
	switch {
	case !ok || !s.atEnd():
		return nil, &Fault{Code: codeParse, Message: "not JSON"}
	case many == 0:
		return nil, invalid("an empty batch")
	case many > maxBatch:
		return nil, invalid("a batch of %d messages, want at most %d", many, maxBatch)
	}
	return all, nil
}
