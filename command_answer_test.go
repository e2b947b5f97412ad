package ferrule

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, event, text, want string }{
		{"H6 allow", "input", `{"decision":"allow"}`, ""},
		{"H6 allow, with blanks around it", "output", " \r\n{ \"decision\" : \"allow\" }\n", ""},
		{"H6 allow, escaped", "input", `{"\u0064ecision":"\u0061llow"}`, ""},
		{"H6 allow with context", "output", `{"decision":"allow","context":"Monday"}`, ""},
		{"H6 deny", "input", `{"decision":"deny"}`, ""},
		{"H6 deny with both texts", "output", `{"decision":"deny","message":"m","reason":"r"}`, ""},
		{"H6 change of input", "input", `{"decision":"change","input":{},"context":"c"}`, ""},
		{"H6 change of a result's text", "output", `{"decision":"change","text":"","context":"c"}`, ""},
		{"H6 change of a result's value", "output", `{"decision":"change","json":null}`, ""},

		{"H6 nothing", "input", "", `it gave no answer: want {"decision":"allow"}, deny or change on standard output`},
		{"H6 blanks", "input", " \n", `it gave no answer: want {"decision":"allow"}, deny or change on standard output`},
		{"H6 no JSON", "input", "allow", "its answer: "},
		{"H6 half of it", "input", `{"decision":"allow"`, "its answer: "},
		{"H6 two values", "input", `{"decision":"allow"}{"decision":"deny"}`, "its answer: "},
		{"H6 two lines", "input", "{\"decision\":\"allow\"}\n{\"decision\":\"allow\"}\n", "its answer: "},
		{"H6 a text behind it", "input", `{"decision":"allow"} done`, "its answer: "},
		{"H6 a list", "input", `["allow"]`, "its answer: "},
		{"H6 a string", "input", `"allow"`, "its answer: "},
		{"H6 null", "input", `null`, `its answer: decision: got nothing, want a string`},
		{"H6 not UTF-8", "input", "{\"decision\":\"allow\",\"context\":\"\xff\"}", "its answer: "},
		{"H6 a byte order mark", "input", "\ufeff{\"decision\":\"allow\"}", "its answer: "},
		{"H6 no decision", "input", `{}`, `its answer: decision: got nothing, want a string`},
		{"H6 null as decision", "input", `{"decision":null}`, `its answer: decision: got null, want a string`},
		{"H6 a number as decision", "input", `{"decision":1}`, `its answer: decision: got 1, want a string`},
		{"H6 an unknown decision", "input", `{"decision":"ask"}`, `its answer: decision: got "ask", want "allow", "deny" or "change"`},
		{"H6 a decision in capitals", "input", `{"decision":"ALLOW"}`, `its answer: decision: got "ALLOW", want "allow", "deny" or "change"`},
		{"H6 a decision with blanks", "input", `{"decision":"allow "}`, `its answer: decision: got "allow ", want "allow", "deny" or "change"`},
		{"H6 a long decision", "input", `{"decision":"` + strings.Repeat("ä", 50) + `"}`, `its answer: decision: got "` + strings.Repeat("ä", 19) + `…, want "allow", "deny" or "change"`},
		{"H6 a key twice", "input", `{"decision":"deny","decision":"allow"}`, "its answer: "},
		{"H6 a key twice, escaped", "input", `{"decision":"deny","\u0064ecision":"allow"}`, "its answer: "},
		{"H6 a key in another case", "input", `{"Decision":"allow"}`, `its answer: decision: got nothing, want a string`},
		{"H6 an unknown key", "input", `{"decision":"allow","unless":"Monday"}`, `its answer: key "unless": want of allow on input only context`},
		{"H6 an empty key", "input", `{"decision":"allow","":1}`, `its answer: key "": want of allow on input only context`},
		{"H6 allow with input", "input", `{"decision":"allow","input":{}}`, `its answer: key "input": want of allow on input only context`},
		{"H6 allow with a message", "input", `{"decision":"allow","message":"but"}`, `its answer: key "message": want of allow on input only context`},
		{"H6 deny with context", "input", `{"decision":"deny","context":"c"}`, `its answer: key "context": want of deny on input only message, reason`},
		{"H6 deny with a list of messages", "input", `{"decision":"deny","message":["m"]}`, `its answer: message: got ["m"], want a string`},
		{"H6 context that is null", "input", `{"decision":"allow","context":null}`, `its answer: context: got null, want a string`},
		{"H6 change of nothing", "input", `{"decision":"change"}`, `its answer: input: got nothing, want the changed arguments, an object`},
		{"H6 change to null", "input", `{"decision":"change","input":null}`, `its answer: input: got null, want the changed arguments, an object`},
		{"H6 change to a text", "input", `{"decision":"change","input":"{}"}`, `its answer: input: got "{}", want the changed arguments, an object`},
		{"H6 change with a key twice", "input", `{"decision":"change","input":{"a":1,"a":2}}`, "its answer: "},
		{"H6 change of input with a result", "input", `{"decision":"change","text":"x"}`, `its answer: key "text": want of change on input only input, context`},
		{"H6 change of a result with input", "output", `{"decision":"change","input":{}}`, `its answer: key "input": want of change on output only text, json, context`},
		{"H6 change of no result", "output", `{"decision":"change"}`, `its answer: change: want either text or json, which takes the place of the result`},
		{"H6 change to two results", "output", `{"decision":"change","text":"x","json":1}`, `its answer: change: want either text or json, which takes the place of the result`},
		{"H6 change to a text that is none", "output", `{"decision":"change","text":1}`, `its answer: text: got 1, want a string`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := readAnswer(tt.event, tt.text)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want == "":
			case err == nil:
				t.Errorf("read as %+v, want it refused", a)
			case tt.want == "its answer: " && !strings.HasPrefix(err.Error(), tt.want), tt.want != "its answer: " && err.Error() != tt.want:
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// What is read as an answer is one object, as any reader of JSON has it, and says
// the decision in so many letters; one key more, and it is none.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"", `{"decision":"allow"}`, `{"decision":"deny","message":"m","reason":"r"}`, `{"decision":"change","input":{"a":1},"context":"c"}`,
		`{"decision":"change","text":"\ud83d\ude00"}`, `{"decision":"change","json":[1,null]}`, `{"decision":"allow"}{}`, `{"decision":"deny","decision":"allow"}`, `{"Decision":"allow"}`, `null`,
	} {
		f.Add(true, seed)
		f.Add(false, seed)
	}
	f.Fuzz(func(t *testing.T, input bool, text string) {
		event := outputEvent
		if input {
			event = inputEvent
		}
		a, err := readAnswer(event, text)
		if err != nil {
			return
		}
		var keys map[string]any
		if err := json.Unmarshal([]byte(text), &keys); err != nil {
			t.Fatalf("read %q, which is not JSON: %v", text, err)
		}
		if keys["decision"] != a.decision || a.decision != allows && a.decision != denies && a.decision != changes {
			t.Errorf("read %q as %q", text, a.decision)
		}
		for key, got := range map[string]string{"message": a.message, "reason": a.reason, "context": a.context} {
			if want, _ := keys[key].(string); got != want {
				t.Errorf("%s of %q: got %q, want %q", key, text, got, want)
			}
		}
		if changed := a.input != nil || a.text != nil || a.json != nil; changed != (a.decision == changes) {
			t.Errorf("read %q as %+v", text, a)
		}
		if a.input != nil && !bytes.HasPrefix(a.input, []byte("{")) {
			t.Errorf("read %q as the arguments %s", text, a.input)
		}
		keys["more"] = true
		more, err := json.Marshal(keys)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readAnswer(event, string(more)); err == nil {
			t.Errorf("read %q", more)
		}
	})
}
