package provider

import (
	"encoding/json"
	"testing"
)

func TestPartKept(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"kind":"text","text":"hi"}`:                  "",
		`{"kind":"text"}`:                              "",
		`{"kind":"call","call":{"id":"1","name":"a"}}`: "",
		`{"kind":"own","own":{},"of":"anthropic"}`:     "",
		`{"kind":"txt","text":"hi"}`:                   `part: got the kind "txt", want text, media, thought, refusal, call, result or own`,
		`{"text":"hi"}`:                                `part: got the kind "", want text, media, thought, refusal, call, result or own`,
		`{"kind":"call","result":{"call_id":"1"}}`:     "part: got the kind call and no call, want both",
		`{"kind":"result"}`:                            "part: got the kind result and no result, want both",
		`{"kind":"media","media":null}`:                "part: got the kind media and no media, want both",
	} {
		got := ""
		if err := json.Unmarshal([]byte(`{"role":"user","parts":[`+text+`]}`), new(Message)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("A4 %s: got %q, want %q", text, got, want)
		}
	}
}
