package mcptool

import (
	"encoding/json"
	"fmt"
)

// message is one message of JSON-RPC. What it carries stays as the bytes it was.
type message struct {
	id     json.RawMessage // nil: a notification
	method string          // "": an answer
	params json.RawMessage // nil: none
	result json.RawMessage // of an answer that is no fault
	fault  *Fault          // of an answer
}

// Fault is an error of JSON-RPC, as one side says it to the other.
type Fault struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (f *Fault) Error() string { return fmt.Sprintf("%s (code %d)", f.Message, f.Code) }

// Codes of faults.
const (
	codeParse         = -32700
	codeInvalid       = -32600
	codeNoMethod      = -32601
	codeInvalidParams = -32602
	codeInternal      = -32603
)
