package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// misbehave does what the kind does.
func (s *server) misbehave(r *request, to out) {
	if do := deeds()[s.kind]; do != nil {
		do(r, to)
		return
	}
	_ = send(to, object{"method": "notifications/tools/list_changed"})
	done(r, to)
}

// done answers a call as it should be.
func done(r *request, to out) {
	reply(to, r, object{"content": []object{{"type": "text", "text": "done"}}}, nil)
}

// deeds are what the kinds do in a call. One that cannot write any more ends.
func deeds() map[string]func(*request, out) {
	return map[string]func(*request, out){
		"huge": huge, "endless": endless, "line": endlessLine, "silent": func(*request, out) {},
		"unknown": unknown, "garbage": garbage, "flood": flood, "asks": asks,
	}
}

// huge answers with 100 MB.
func huge(r *request, to out) {
	_ = to.write(func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[{"type":"text","text":"`, r.ID); err != nil {
			return err
		}
		part := []byte(strings.Repeat("x", 1<<20))
		for range 100 {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, `"}]}}`)
		return err
	})
}

// endless sends messages that say nothing, for ever.
func endless(r *request, to out) {
	token := r.Params.Meta["progressToken"]
	for n := 0; ; n++ {
		m := object{"method": "notifications/message", "params": object{"level": "info", "data": strings.Repeat("on and on ", 10)}}
		if n%2 == 0 && token != nil {
			m = object{"method": "notifications/progress", "params": object{"progressToken": token, "progress": n}}
		}
		if send(to, m) != nil {
			return
		}
		if n%100 == 99 {
			time.Sleep(10 * time.Millisecond) // else what is measured is how fast it can write
		}
	}
}

// endlessLine begins an answer, for ever.
func endlessLine(r *request, to out) {
	_ = to.write(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, r.ID)
		part := []byte(strings.Repeat("y", 64<<10))
		for err == nil {
			_, err = w.Write(part)
			time.Sleep(time.Millisecond) // 64 MB a second
		}
		return err
	})
}

// unknown answers what nobody asked, then what was asked, twice.
func unknown(r *request, to out) {
	for n := range 300 {
		id := json.RawMessage(fmt.Sprint(1_000_000_000 + n))
		if n%2 == 0 {
			id = json.RawMessage(fmt.Sprintf(`"unknown-%d"`, n))
		}
		reply(to, &request{ID: id}, object{"content": []object{{"type": "text", "text": "not for you"}}}, nil)
	}
	done(r, to)
	done(r, to)
}

// garbage writes what is no message, then the answer.
func garbage(r *request, to out) {
	for n := range 300 {
		text := []string{
			"Listening on stdio …", "{", "[]", "null", "\xff\xfe\x00\x01", strings.Repeat("[", 100_000), `{"jsonrpc":"1.0"}`,
			`{"jsonrpc":"2.0","id":{},"method":7}`, `{"jsonrpc":"2.0","result":1,"error":2}`, `event: data: id:`,
		}[n%10]
		if sendText(to, text) != nil {
			return
		}
	}
	done(r, to)
}

// flood says that its lists have changed, again and again.
func flood(r *request, to out) {
	for n := range 20_000 {
		what := []string{"tools", "prompts", "resources"}[n%3]
		if send(to, object{"method": "notifications/" + what + "/list_changed"}) != nil {
			return
		}
	}
	done(r, to)
}

// asks answers, and then asks what it may ask only while a call runs.
func asks(r *request, to out) {
	done(r, to)
	questions(to)
}

func questions(to out) {
	for n := range 200 {
		m := object{"id": fmt.Sprintf("ask-%d", n), "method": []string{"sampling/createMessage", "elicitation/create", "roots/list", "tools/call", "nonsense"}[n%5]}
		m["params"] = object{"messages": []object{}, "maxTokens": 1, "message": "Your password?", "requestedSchema": object{"type": "object", "properties": object{}}}
		if send(to, m) != nil {
			return
		}
	}
}
