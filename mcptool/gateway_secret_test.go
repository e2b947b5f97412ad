package mcptool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

func TestGatewaySecrets(t *testing.T) {
	t.Setenv("FERRULE_TEST_TOKEN", "t0ken-0f-0urs-1234")
	const value = "t0ken-0f-0urs-1234"
	vault, err := secret.NewVault(map[string]secret.Entry{"token": {Source: secret.Env("FERRULE_TEST_TOKEN"), Tools: []string{"use"}}})
	if err != nil {
		t.Fatal(err)
	}
	use, err := tool.New(tool.Info{Name: "use", Description: "Use the token.", Secrets: []string{"token"}}, func(ctx context.Context, _ struct{}) (string, error) {
		return "used", tool.From(ctx).Secret(ctx, "token", func([]byte) error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := &testServer{old: true, capabilities: `{"tools":{},"prompts":{},"logging":{}}`, methods: map[string]method{
		"tools/list": lists(plainTool("leak"), plainTool("fail")),
		"prompts/get": func(*testCall) (json.RawMessage, error) {
			return json.RawMessage(`{"description":"` + value + `"}`), nil
		},
		"tools/call": func(c *testCall) (json.RawMessage, error) {
			c.notify("notifications/message", `{"level":"error","data":"`+value+`"}`)
			if textMember(c.params, "name") == "fail" {
				return nil, &Fault{Code: -32099, Message: "bad " + value, Data: json.RawMessage(`"` + value + `"`)}
			}
			if _, err := c.ask("elicitation/create", `{"message":"`+value+`"}`); err != nil {
				return nil, err
			}
			return json.RawMessage(`{"content":[{"type":"text","text":"fine"}],"_meta":{"k":"` + value + `"}}`), nil
		},
	}}
	rt := allowing()
	rt.Secrets = vault
	if err := rt.Add(use); err != nil {
		t.Fatal(err)
	}
	k := meet(t, gatewayOf(t, rt, map[string]*testServer{"s": ts}), oldEra)
	var asked json.RawMessage
	k.asked = func(_ string, params json.RawMessage) (json.RawMessage, *Fault) {
		asked = params
		return json.RawMessage(`{"action":"decline"}`), nil
	}
	if got := callText(k.must("tools/call", `{"name":"use"}`)); got != "used" {
		t.Fatalf("got %q", got)
	}
	leak, fail := k.do(t.Context(), "tools/call", `{"name":"s__leak"}`), k.do(t.Context(), "tools/call", `{"name":"s__fail"}`)
	for name, text := range map[string]string{
		"a result":       string(leak.end.result),
		"a notification": string(leak.notes[0].params),
		"a question":     string(asked),
		"a fault":        string(fail.end.append(nil)), // the runtime has changed it: it is a result
		"a prompt":       string(k.must("prompts/get", `{"name":"s__x"}`)),
	} {
		t.Run("K3 "+name, func(t *testing.T) {
			if text == "" || strings.Contains(text, value) {
				t.Errorf("got %s, want it without the secret", text)
			}
		})
	}
}
