package mcptool

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errGone: the client is no longer there.
var errGone = errors.New("the client has gone")

// errLongLine: a line is longer than is taken.
var errLongLine = errors.New("the line is too long")

func readMessages(b []byte) (ms []message, batch bool, err error) {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '[' {
		var raw []json.RawMessage
		if err := json.Unmarshal(b, &raw); err != nil {
			return nil, true, err
		}
		for _, r := range raw {
			m, err := readMessage(r)
			if err != nil {
				return nil, true, err
			}
			ms = append(ms, m)
		}
		return ms, true, nil
	}
	m, err := readMessage(b)
	if err != nil {
		return nil, false, err
	}
	return []message{m}, false, nil
}

func readMessage(b []byte) (message, error) {
	var w struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *Fault          `json:"error"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return message{}, err
	}
	if w.Method == "" && (w.ID == nil || w.Result == nil && w.Error == nil) {
		return message{}, errors.New("neither a request nor an answer")
	}
	return message{id: w.ID, method: w.Method, params: w.Params, result: w.Result, fault: w.Error}, nil
}

func appendMessage(b []byte, m message) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if m.id != nil {
		b = append(append(b, `,"id":`...), m.id...)
	} else if m.method == "" {
		b = append(b, `,"id":null`...)
	}
	if m.method != "" {
		name, _ := json.Marshal(m.method)
		b = append(append(b, `,"method":`...), name...)
		if m.params != nil {
			b = append(append(b, `,"params":`...), m.params...)
		}
	} else if m.fault != nil {
		f, _ := json.Marshal(m.fault)
		b = append(append(b, `,"error":`...), f...)
	} else {
		b = append(append(b, `,"result":`...), m.result...)
	}
	return append(b, '}')
}

// isRequest says whether a message must be answered.
func (m message) isRequest() bool { return m.method != "" && m.id != nil }
