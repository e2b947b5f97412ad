package ferrule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// What each sink is given of the arguments and the result of a call.
func TestSinksOfRecords(t *testing.T) {
	t.Parallel()
	all := []tool.Sensitivity{tool.Public, tool.Internal, tool.Secret}
	for _, tt := range []struct {
		name         string
		sinks        map[guard.Sink][]tool.Sensitivity
		of           tool.Sensitivity
		audit, store string // what stands in the place; "": the content itself
	}{
		{"G4 by default what is internal is kept", nil, tool.Internal, "", ""},
		{"G4 by default what is secret is not", nil, tool.Secret, "[withheld: secret]", "[withheld: secret]"},
		{"G4 a record of what is public", map[guard.Sink][]tool.Sensitivity{guard.Audit: {tool.Public}}, tool.Internal, "[withheld: internal]", ""},
		{"G4 a store of what is public", map[guard.Sink][]tool.Sensitivity{guard.Store: {tool.Public}}, tool.Internal, "", "[withheld: internal]"},
		{"G4 a record of everything", map[guard.Sink][]tool.Sensitivity{guard.Model: all, guard.Audit: all}, tool.Secret, "", "[withheld: secret]"},
		{"G4 a store of everything", map[guard.Sink][]tool.Sensitivity{guard.Model: all, guard.Store: all}, tool.Secret, "[withheld: secret]", ""},
		{"G4 what is public is accepted where that is said", map[guard.Sink][]tool.Sensitivity{guard.Audit: {tool.Public}, guard.Store: {tool.Public}}, tool.Public, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var record, log bytes.Buffer
			kept := new(places)
			rt := &ferrule.Runtime{
				Policy: allowAll, Guard: &guard.Guard{Sinks: tt.sinks}, Log: audit.NewLines(&log), Record: ferrule.NewRecorder(&record),
				Journal: putting{new(durable.MemoryJournal), kept}, Ledger: new(policy.Memory),
			}
			d := writerTool("act")
			d.InputSensitivity, d.OutputSensitivity = tt.of, tt.of
			d.Run = func(_ context.Context, a tool.Args) (tool.Result, error) { return sayText("said " + textIn(a)), nil }
			if err := rt.Add(checkedTool(t, d)); err != nil {
				t.Fatal(err)
			}
			rt.Session(tool.Caller{Session: "s"}).View(t.Context()).Do(t.Context(), tool.Call{Name: "act", Input: json.RawMessage(textArg("hush"))})
			if err := rt.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			for name, sink := range map[string]struct{ text, instead string }{
				"the record": {log.String(), tt.audit}, "the recording": {record.String(), tt.store}, "the journal": {kept.seen.String(), tt.store},
			} {
				got := strings.Contains(sink.text, "hush") && strings.Contains(sink.text, "said hush")
				if none := !strings.Contains(sink.text, "hush"); sink.instead == "" && !got || sink.instead != "" && (!none || !strings.Contains(sink.text, sink.instead)) {
					t.Errorf("%s has %s, want %q", name, sink.text, sink.instead)
				}
			}
		})
	}
}

// A page of a kept result is the result's, not of the tool that reads it.
func TestSinksOfPages(t *testing.T) {
	t.Parallel()
	t.Run("G4 a page is as sensitive as what it is a page of", func(t *testing.T) {
		t.Parallel()
		all := []tool.Sensitivity{tool.Public, tool.Internal, tool.Secret}
		var log bytes.Buffer
		rt := &ferrule.Runtime{
			Policy: allowAll, Guard: &guard.Guard{Sinks: map[guard.Sink][]tool.Sensitivity{guard.Model: all, guard.Store: all}},
			Log: audit.NewLines(&log), Blobs: new(durable.Memory),
		}
		d := fixed("long", sayText(logOf(9000)))
		d.OutputSensitivity = tool.Secret
		if err := rt.Add(checkedTool(t, d)); err != nil {
			t.Fatal(err)
		}
		s := rt.Session(tool.Caller{Session: "s"})
		if page := readAll(t, s, handleIn(t, s.Call(t.Context(), "long", textArg("x")))); !strings.Contains(page, "line 77 of the log") {
			t.Errorf("the model reads %.200s, want the log", page)
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, rest, found := strings.Cut(log.String(), "of the log"); found {
			t.Errorf("the record has it before %.200s", rest)
		}
	})
}
