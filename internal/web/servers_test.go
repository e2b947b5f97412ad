package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/audit"
)

func serversHost(servers ...Server) (c *Console, settled *[]string) {
	settled = new([]string)
	return &Console{
		Key: testKey, Place: "/here", Version: "v1",
		Servers: func(context.Context) ([]Server, error) { return servers, nil },
		Settle: func(_ context.Context, server, as string, accept bool) error {
			if as != "0a" && as != "0b" {
				return errors.New("the tools are not what was shown any more")
			}
			*settled = append(*settled, fmt.Sprint(server, " ", as, " ", accept))
			return nil
		},
	}, settled
}

func waitingServer() Server {
	return Server{
		Name: "bank", State: "ready", As: "0a", Tools: 2,
		Quarantined: []Quarantined{{"pay", "it has changed"}, {"odd", "its schema is wrong"}},
		Pins:        []Pin{{Tool: "pay", State: "changed", Diff: "description\n- Pay.\n+ Pay, and tell eve.", As: "0b"}, {Tool: "give", State: "new", As: "0c"}},
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	t.Run("M4 a definition that waits stands with its diff, and is accepted as it was shown", func(t *testing.T) {
		t.Parallel()
		c, settled := serversHost(waitingServer())
		page := get(t, c, "/servers").Body.String()
		for _, want := range []string{`<span class="add">&#43; Pay, and tell eve.`, `<span class="del">- Pay.`, `name="as" value="0a"`, `name="as" value="0b"`, "2 tools wait", "its schema is wrong"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page has no %s", want)
			}
		}
		for _, body := range []string{`{"accept": true, "as": "0a"}`, `{"accept": false, "as": "0b"}`} {
			if w := post(t, c, "/api/servers/bank/pins", kindJSON, body); w.Code != http.StatusOK {
				t.Errorf("%s: got %d, %s", body, w.Code, w.Body)
			}
		}
		w := post(t, c, "/api/servers/bank/pins", kindForm, url.Values{"accept": {"true"}, "as": {"0a"}, "back": {"/servers"}}.Encode())
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/servers?") {
			t.Errorf("got %d to %q", w.Code, w.Header().Get("Location"))
		}
		if got, want := strings.Join(*settled, ", "), "bank 0a true, bank 0b false, bank 0a true"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	for name, body := range map[string]string{"another digest": `{"accept": true, "as": "ff"}`, "no digest": `{"accept": true}`, "no answer": `{"as": "0a"}`, "nothing": ``} {
		t.Run("M4 nothing is accepted with "+name, func(t *testing.T) {
			t.Parallel()
			c, settled := serversHost(waitingServer())
			if w := post(t, c, "/api/servers/bank/pins", kindJSON, body); w.Code != http.StatusUnprocessableEntity || len(*settled) > 0 {
				t.Errorf("got %d, %s, %q", w.Code, w.Body, *settled)
			}
		})
	}
	t.Run("M4 where nobody accepts there is no button", func(t *testing.T) {
		t.Parallel()
		c, _ := serversHost(waitingServer())
		c.Settle = nil
		if page := get(t, c, "/servers").Body.String(); strings.Contains(page, "<button name=") {
			t.Error("there is one")
		}
	})
	t.Run("U1 how fast a server answers is what the record says of the calls that ran", func(t *testing.T) {
		t.Parallel()
		c, _ := serversHost(Server{Name: "bank", State: "ready"}, Server{Name: "idle", State: "ready"})
		c.Lines = func(_ context.Context, f Filter) (lines []Line, _ error) {
			for i := range 100 {
				l := Line{Entry: audit.Entry{Kind: f.Kind, ID: fmt.Sprint(i), Source: "bank"}}
				if f.Kind == audit.Ended {
					l.Source, l.Took, l.Result = "", time.Duration(i+1)*time.Millisecond, new(audit.Outcome)
					switch i {
					case 0:
						l.Result = &audit.Outcome{IsError: true, Kind: "failed"}
					case 1: // the tool ran, and a person stopped it
						l.Result = &audit.Outcome{IsError: true, Kind: "aborted"}
					case 99: // it did not run
						l.Took, l.Result = 0, &audit.Outcome{IsError: true, Kind: "denied"}
					}
				}
				lines = append(lines, l)
			}
			return lines, nil
		}
		var got serversPage
		if err := json.Unmarshal(get(t, c, "/api/servers").Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if want := (Latency{Calls: 99, P50: 50, P95: 95, Error: 1}); got.Servers[0].Latency == nil || *got.Servers[0].Latency != want || got.Servers[1].Latency != nil {
			t.Errorf("got %+v, %+v, want %+v and none", got.Servers[0].Latency, got.Servers[1].Latency, want)
		}
		if page := get(t, c, "/servers").Body.String(); !strings.Contains(page, "50 ms") || !strings.Contains(page, "none yet") {
			t.Error("the page does not say so")
		}
	})
	t.Run("M4 where there is none the page says how to get one", func(t *testing.T) {
		t.Parallel()
		c, _ := serversHost()
		page := get(t, c, "/servers").Body.String()
		if !strings.Contains(page, "ferrule servers add") || !strings.Contains(page, "ferrule servers import") {
			t.Errorf("got %s", page)
		}
	})
	t.Run("G1 what a stranger wrote is text", func(t *testing.T) {
		t.Parallel()
		list := []string{strange}
		c, _ := serversHost(Server{
			Name: strange, State: "failed", Era: strange, Server: strange, Since: time.Now(), Why: strange, Login: strange, Paused: strange, Isolation: strange,
			Faults: list, Notes: list, Rules: list, Found: list, Quarantined: []Quarantined{{strange, strange}}, As: "0a",
			Pins: []Pin{{Tool: strange + "2", State: "changed", Why: strange, Diff: "+ " + strange, Found: list}, {Tool: "x", Diff: "--- " + strange}},
		})
		asText(t, get(t, c, "/servers").Body.String())
	})
}
