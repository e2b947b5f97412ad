package mcptool

import (
	"context"
	"encoding/json"
	"testing"
)

func TestLinkSmoke(t *testing.T) {
	s := &testServer{methods: map[string]func(*testCall) (json.RawMessage, error){
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			c.progress(1)
			return c.ask("elicitation/create", `{}`)
		},
	}}
	for _, e := range []era{oldEra, newEra} {
		l := s.connect(t, e, listener{requested: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"a":1}`), nil
		}})
		var heard []string
		got, err := l.do(t.Context(), "tools/call", json.RawMessage(`{"_meta":{"progressToken":"x"}}`), &listener{notified: func(m string, p json.RawMessage) { heard = append(heard, string(p)) }})
		t.Log(string(got), err, heard, string(l.greeting().info))
		if err != nil {
			t.Fatal(err)
		}
	}
}
