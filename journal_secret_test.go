package ferrule_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// heeding is a journal that remembers what it was given.
type heeding struct {
	durable.Journal
	records []durable.Record
}

func (j *heeding) Begin(ctx context.Context, r durable.Record) (durable.Record, error) {
	j.records = append(j.records, r)
	return j.Journal.Begin(ctx, r)
}

// A key that a tool makes of its arguments says no more of them than they may.
func TestSecretInKey(t *testing.T) {
	t.Parallel()
	const pin = "hunter2-of-mine"
	for _, tt := range []struct {
		rule string
		tool func(*tool.Tool)
		rt   func(*ferrule.Runtime)
	}{
		{"G4 a key of arguments that are secret is not in the journal", func(d *tool.Tool) { d.InputSensitivity = tool.Secret }, func(*ferrule.Runtime) {}},
		{"K3 a key with a value in it is not in the journal", func(*tool.Tool) {}, func(rt *ferrule.Runtime) { rt.Secrets = liveVault(t, pin) }},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			journal := &heeding{Journal: new(durable.MemoryJournal)}
			d := writerTool("login")
			d.Key = func(_ context.Context, a tool.Args) (string, error) { return "login:" + textIn(a), nil }
			d.Run = func(context.Context, tool.Args) (tool.Result, error) { return sayText("welcome"), nil }
			tt.tool(&d)
			rt := &ferrule.Runtime{Journal: journal, Policy: allowAll}
			tt.rt(rt)
			if err := rt.Add(checkedTool(t, d)); err != nil {
				t.Fatal(err)
			}
			res := rt.Session(tool.Caller{Session: "s1"}).View(t.Context()).Do(t.Context(), tool.Call{Name: "login", Input: json.RawMessage(textArg(pin))})
			if res[0].Err != nil {
				t.Fatal(res[0].Err)
			}
			for _, r := range journal.records {
				if text, err := json.Marshal(r); err != nil || strings.Contains(string(text), pin) {
					t.Errorf("the journal is given %s (%v)", text, err)
				}
			}
		})
	}
}
