package ferrule_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// A key that a tool makes of its arguments says no more of them than they may.
func TestSecretInKey(t *testing.T) {
	t.Parallel()
	const pin = "hunter2-of-mine"
	for _, tt := range []struct {
		rule string
		tool func(*tool.Tool)
		rt   func(*ferrule.Runtime)
	}{
		{"G4 a key of arguments that are secret is in no file", func(d *tool.Tool) { d.InputSensitivity = tool.Secret }, func(*ferrule.Runtime) {}},
		{"K3 a key with a value in it is in no file", func(*tool.Tool) {}, func(rt *ferrule.Runtime) { rt.Secrets = liveVault(t, pin) }},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := store.Open(t.Context(), filepath.Join(dir, "ferrule.db"))
			if err != nil {
				t.Fatal(err)
			}
			d := writerTool("login")
			d.Key = func(_ context.Context, a tool.Args) (string, error) { return "login:" + textIn(a), nil }
			d.Run = func(context.Context, tool.Args) (tool.Result, error) { return sayText("welcome"), nil }
			tt.tool(&d)
			rt := &ferrule.Runtime{Journal: s, Ledger: s, Log: s, Policy: allowAll}
			tt.rt(rt)
			if err := rt.Add(checkedTool(t, d)); err != nil {
				t.Fatal(err)
			}
			res := rt.Session(tool.Caller{Session: "s1"}).View(t.Context()).Do(t.Context(), tool.Call{Name: "login", Input: json.RawMessage(textArg(pin))})
			if res[0].Err != nil {
				t.Fatal(res[0].Err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, f := range files {
				if b, err := os.ReadFile(f); err != nil || strings.Contains(string(b), pin) {
					t.Errorf("%s holds it (%v)", filepath.Base(f), err)
				}
			}
		})
	}
}
