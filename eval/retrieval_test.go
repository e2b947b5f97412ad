package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRetrieval(t *testing.T) {
	t.Parallel()
	tools := file(t,
		`{"id":"x-1","name":"getForecast","description":"The weather of the next days.","parameters":{"city":{"type":"str","description":"where"}}}`,
		`{"id":"x-2","name":"send_mail","description":"Send a message.","inputSchema":{"type":"object","properties":{"to":{"type":"object","properties":{"name":{"description":"of the recipient"}}}}}}`)
	queries := file(t,
		`{"id":"1","query":"weather in Paris","gold_tools":["x-1"]}`,
		`{"id":"2","query":"write to a recipient","gold_any_of":[["x-2","x-1"]]}`,
		`{"id":"3","query":"nothing fits","gold_tools":[]}`)
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"the baseline sees names and descriptions", []string{tools, queries, "--baseline"}, 0, `"queries":2,"recall_5":50,"recall_10":50,"ndcg_10":50}`},
		{"search sees arguments", []string{tools, queries}, 0, `"ndcg_10":100,"baseline":50,"gain":50,"ok":true}`},
		{"where no tool fits", []string{tools, file(t,
			`{"id":"1","query":"weather forecast in Paris","gold_tools":["x-1"],"candidates":["x-1"]}`,
			`{"id":"2","query":"draw a triangle","gold_tools":[],"candidates":["x-1","x-2"]}`)}, 0, `"none":1,"some":1,"auc":1,"recognised":100,"lost":0,"ok":true}`},
		{"one index for several", []string{tools, queries, tools, queries}, 0, `"tools":4`},
		{"without arguments and meaning", []string{tools, queries, "--without=arguments", "--without=meaning"}, 0, `"ndcg_10":50,"baseline":50,"ok":true}`},
		{"without what it has not", []string{tools, queries, "--without=magic"}, 1, `got "magic", want one of arguments, coverage`},
		{"a file without its other", []string{tools}, 1, "got 1 files, want pairs"},
		{"no file", nil, 1, "got 0 files, want pairs"},
		{"a set that gains too little", []string{file(t, `{"id":"bfcl-1","name":"f","description":"weather"}`), file(t, `{"id":"1","query":"weather","gold_tools":["bfcl-1"]}`)}, 1, "1 of 1 sets gain less"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			status := run(append([]string{"retrieval"}, tt.args...), &out, &errs)
			if got := out.String() + errs.String(); status != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("got status %d and %s, want %d and %s", status, got, tt.status, tt.want)
			}
		})
	}
}
