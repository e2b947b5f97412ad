package mcptool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/audit"
)

func TestGatewayIntroduction(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxIntroduction)
	for _, e := range []era{oldEra, newEra} {
		for _, tt := range []struct{ name, info, can string }{
			{"name", `{"name":"` + long + `"}`, `{}`},
			{"information", `{"name":"n","icons":["` + long + `"]}`, `{}`},
			{"capabilities", `{"name":"n"}`, `{"experimental":{"` + long + `":{}}}`},
		} {
			t.Run(fmt.Sprintf("M2 what a client says of itself is bounded: %s, %s era", tt.name, eraName(e)), func(t *testing.T) {
				t.Parallel()
				c, err := ownGateway(t).join(joining{stateless: e == newEra})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.leave)
				k := &talker{t: t, c: c, era: oldEra} // it says all itself
				method, params := "initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, oldVersion, tt.can, tt.info)
				if e == newEra {
					method, params = "tools/list", fmt.Sprintf(`{"_meta":{%q:%q,%q:%s,%q:%s}}`, metaVersion, newVersion, metaCapabilities, tt.can, metaClientInfo, tt.info)
				}
				if f := k.fails(method, params); f.Code != codeInvalidParams || len(f.Message) > 200 {
					t.Errorf("got %v, want a short fault %d", f, codeInvalidParams)
				}
			})
		}
		t.Run("M2 a long name is short on the record, and no other's: "+eraName(e)+" era", func(t *testing.T) {
			t.Parallel()
			clients := make(chan string, 16)
			rt := allowing()
			rt.Observe = func(e audit.Event) {
				if e.Kind == audit.Ended {
					clients <- e.Request.Caller.Client
				}
			}
			if err := rt.Add(echo(t)); err != nil {
				t.Fatal(err)
			}
			g := gatewayOf(t, rt, nil)
			names := map[string]bool{}
			for _, last := range []string{"a", "b"} {
				k := meet(t, g, e, func(k *talker) { k.name = strings.Repeat("é", maxClientName) + last })
				k.must("tools/call", `{"name":"echo","arguments":{"text":"x"}}`)
				name := <-clients
				names[name] = true
				if len(name) > maxClientName || !strings.HasPrefix(name, "éé") || strings.ToValidUTF8(name, "") != name {
					t.Errorf("got %q, want a name of at most %d bytes", name, maxClientName)
				}
				if meta := metaOf(k.params(`{}`)); e == newEra && meta.client != name {
					t.Errorf("its session is that of %q, want %q", meta.client, name)
				}
			}
			if len(names) != 2 {
				t.Errorf("got %v, want two names", names)
			}
		})
	}
	t.Run("M2 a name that is not long stays as it is", func(t *testing.T) {
		t.Parallel()
		name := strings.Repeat("x", maxClientName)
		if got := clientName(json.RawMessage(`{"name":"` + name + `"}`)); got != name {
			t.Errorf("got %q", got)
		}
	})
}
