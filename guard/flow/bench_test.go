package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/guard/flow"
	"github.com/ferrule-dev/ferrule/tool"
)

// prose is text without repeats, n bytes or a little more.
func prose(seed, n int) string {
	var b strings.Builder
	for i := seed; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%x words and %d more of them; ", i*2654435761, i)
	}
	return b.String()
}

// BenchmarkNote takes in a result of 4 KB.
func BenchmarkNote(b *testing.B) {
	r := &tool.Request{ID: "1", Name: "web__fetch", Source: tool.Source{Name: "web", Trust: tool.Web}}
	var all [512]tool.Result // what is known takes no time
	for i := range all {
		all[i] = tool.Result{Content: []tool.Content{tool.Text(prose(i*1000, 4<<10))}}
	}
	ledger := &flow.Ledger{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ledger.Note(r, all[i%len(all)])
	}
}

// BenchmarkJudge looks at a mail of 1 KB in a session that holds all it can.
func BenchmarkJudge(b *testing.B) {
	ledger := &flow.Ledger{}
	for i := range 200 {
		ledger.Note(&tool.Request{ID: "1", Name: "web__fetch", Source: tool.Source{Name: "web", Trust: tool.Web}}, tool.Result{Content: []tool.Content{tool.Text(prose(i*1000, 4<<10))}})
	}
	t, err := tool.Tool{Info: tool.Info{Name: "send", Description: "Send.", Input: []byte(`{"type":"object"}`), Open: true}, Run: run}.Check()
	if err != nil {
		b.Fatal(err)
	}
	args, err := t.Admit([]byte(fmt.Sprintf(`{"to":"a@b.example","subject":"hello","body":%q}`, prose(1_000_000, 1<<10))))
	if err != nil {
		b.Fatal(err)
	}
	r := &tool.Request{ID: "2", Name: "send", Tool: &t.Info, Args: args}
	b.ReportAllocs()
	for b.Loop() {
		ledger.Judge(r, false)
	}
}

// BenchmarkBoth takes in a result of 4 KB and looks at a call with an argument of
// 4 KB, in a session that begins: nothing waits until later.
func BenchmarkBoth(b *testing.B) {
	page := &tool.Request{ID: "1", Name: "web__fetch", Source: tool.Source{Name: "web", Trust: tool.Web}}
	res := tool.Result{Content: []tool.Content{tool.Text(prose(1, 4<<10))}}
	t, err := tool.Tool{Info: tool.Info{Name: "send", Description: "Send.", Input: []byte(`{"type":"object"}`), Open: true}, Run: run}.Check()
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{16, 4 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			args, err := t.Admit([]byte(fmt.Sprintf(`{"to":"a@b.example","body":%q}`, prose(1_000_000, size))))
			if err != nil {
				b.Fatal(err)
			}
			send := &tool.Request{ID: "2", Name: "send", Tool: &t.Info, Args: args}
			b.ReportAllocs()
			for b.Loop() {
				ledger := &flow.Ledger{}
				ledger.Note(page, res)
				ledger.Judge(send, false)
			}
		})
	}
}
