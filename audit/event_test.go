package audit_test

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// An observer looks at one stream of events and takes what it needs.
func ExampleEvent() {
	observe := func(e audit.Event) {
		switch e.Kind {
		case audit.Decided:
			fmt.Println(e.Name, e.Decision.Verdict, "by", e.By)
		case audit.Ended:
			fmt.Println(e.Name, "ended:", e.Result)
		default:
		}
	}
	observe(audit.Event{Kind: audit.Decided, Name: "read_file", By: "policy", Decision: &tool.Decision{Verdict: tool.Allow}})
	observe(audit.Event{Kind: audit.Ended, Name: "read_file", Result: &tool.Result{Content: []tool.Content{tool.Text("hello")}}})
	// Output:
	// read_file allow by policy
	// read_file ended: hello
}

// A log in memory, a head that is signed and kept elsewhere, and what both show.
func ExampleVerify() {
	log := new(audit.Memory)
	for _, kind := range []audit.Kind{audit.Requested, audit.Started, audit.Ended} {
		if _, err := log.Append(audit.Event{Kind: kind, Time: time.Unix(0, 0), Name: "read_file"}); err != nil {
			fmt.Println(err)
		}
	}
	mark := log.Mark()
	head := audit.Head{Store: "example", Place: mark.Number, Marks: []audit.Mark{mark}}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	if err := head.Sign(key); err != nil {
		fmt.Println(err)
	}

	report, err := audit.Verify(log.Rows(), &head)
	fmt.Println(report.Rows, "rows,", len(report.Faults), "faults,", head.Check(audit.PublicKey(key)), err)

	report, err = audit.Verify(new(audit.Memory).Rows(), &head)
	for _, f := range report.Faults {
		fmt.Println(f, err)
	}
	// Output:
	// 3 rows, 0 faults, <nil> <nil>
	// writer memory: nothing of it is there, but it had written 3 when the head was made <nil>
}

// Each event is a line of JSON.
func ExampleNewLines() {
	log := audit.NewLines(os.Stdout)
	call := &tool.Request{ID: "c-1.0", CallID: "toolu_1", Name: "read_file", Turn: 1, Caller: tool.Caller{Session: "s1"}}
	if _, err := log.Append(audit.Event{Kind: audit.Started, Time: time.Unix(0, 0), Request: call}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"time":"1970-01-01T00:00:00.000000000Z","kind":"started","session":"s1","turn":1,"id":"c-1.0","call_id":"toolu_1","tool":"read_file"}
}
