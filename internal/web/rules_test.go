package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// rulesOf is a console with some rules.
func rulesOf(lasting int) *Console {
	c := &Console{Key: testKey}
	c.Rules = func(context.Context) (Rules, error) {
		r := Rules{Mode: "ask", File: "ferrule.yaml", Tools: []string{"fs_read"}, Written: []Rule{
			{"deny-1", "deny", "shell(rm*)", "ferrule.yaml, deny 1", ""}, {"allow-1", "allow", "fs_read", "ferrule.yaml, allow 1", ""},
		}}
		for i := range lasting {
			r.Lasting = append(r.Lasting, Lasting{ID: fmt.Sprintf("r%d", i), Rule: fmt.Sprintf("fs_write(path: %d)", i), For: "local", Where: []string{"store"}})
		}
		return r, nil
	}
	return c
}

func TestRules(t *testing.T) {
	t.Parallel()
	t.Run("P1 the page says what is denied, asked, allowed, and what becomes of the rest", func(t *testing.T) {
		t.Parallel()
		page := get(t, rulesOf(1), "/rules").Body.String()
		for _, want := range []string{"shell(rm*)", "ferrule.yaml, deny 1", "No rule asks for anything by itself.", "everything else is asked for", `id="l-r0"`} {
			if !strings.Contains(page, want) {
				t.Errorf("got %s, want %q", page, want)
			}
		}
	})
	t.Run("P10 what no rule speaks of depends on the mode", func(t *testing.T) {
		t.Parallel()
		seen := make(map[string]string)
		for _, mode := range (ruled{}).Modes() {
			text := otherwise(mode)
			if seen[text] != "" {
				t.Errorf("%s says the same as %s", mode, seen[text])
			}
			seen[text] = mode
		}
	})
	t.Run("P6 of many rules a part is shown, and all are found", func(t *testing.T) {
		t.Parallel()
		c := rulesOf(5000)
		page := get(t, c, "/rules").Body.String()
		if n := strings.Count(page, `id="l-`); n != maxLasting || !strings.Contains(page, "and 4800 more") {
			t.Errorf("got %d rules, want %d and how many more there are", n, maxLasting)
		}
		if page := get(t, c, "/rules?find=PATH:+4999").Body.String(); strings.Count(page, `id="l-`) != 1 || !strings.Contains(page, `id="l-r4999"`) {
			t.Error("want the rule that was looked for")
		}
		if page := get(t, c, "/rules?find=nothing").Body.String(); !strings.Contains(page, "Show all of them") {
			t.Error("want a way back")
		}
	})
	t.Run("P1 a call is explained, or why it cannot be", func(t *testing.T) {
		t.Parallel()
		c := rulesOf(0)
		c.Explain = func(_ context.Context, in Imagined) (Explained, error) {
			if in.Tool == "none" {
				return Explained{}, errors.New("there is none")
			}
			return Explained{Tool: in.Tool, Verdict: "deny", By: "mode", Rule: "mode " + in.Mode, Reason: string(in.Args)}, nil
		}
		for path, want := range map[string]string{
			"/rules?tool=fs_read&mode=read":               "<strong>denied</strong>",
			"/rules?tool=fs_read&args=%7B%22a%22%3A1%7D":  "{&#34;a&#34;:1}",
			"/rules?tool=fs_read&args=%7B":                "the arguments are not JSON",
			"/rules?tool=none":                            "there is none",
			"/rules?tool=fs_read&mode=read&args=%7B%7D":   "<option selected>read</option>",
			"/rules?tool=&args=%7B":                       "Nothing runs.",
			"/api/rules?tool=fs_read&args=nonsense&mode=": `"asked":{"tool":"fs_read","args":"nonsense"}`,
		} {
			if w := get(t, c, path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: got %d, %s, want %q", path, w.Code, w.Body, want)
			}
		}
		w := post(t, c, "/api/explain", kindJSON, `{"tool":"fs_read","mode":"read"}`)
		var e Explained
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Verdict != "deny" || e.Fits == nil {
			t.Errorf("got %s, %v", w.Body, err)
		}
		if w := post(t, c, "/api/explain", kindJSON, `{"tool":"none"}`); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("got %d, want a refusal", w.Code)
		}
		if w := post(t, c, "/api/explain", kindForm, `tool=fs_read`); w.Code != http.StatusBadRequest {
			t.Errorf("got %d, want JSON asked for", w.Code)
		}
	})
	t.Run("P6 rules are revoked and edited, with JSON and with a form", func(t *testing.T) {
		t.Parallel()
		c := rulesOf(1)
		var did []string
		c.Revoke = func(_ context.Context, id, reason string) error {
			did = append(did, "revoke "+id+" "+reason)
			return nil
		}
		c.Replace = func(_ context.Context, id, rule string, second bool) error {
			did = append(did, fmt.Sprint("edit ", id, " ", rule, " ", second))
			return nil
		}
		post(t, c, "/api/rules/r0/revoke", kindJSON, `{"reason":"no"}`)
		post(t, c, "/api/rules/r0/revoke", kindForm, `reason=+no+`)
		post(t, c, "/api/rules/r0", kindJSON, `{"rule":"fs_read","second":true}`)
		w := post(t, c, "/api/rules/r0", kindForm, `rule=fs_read&back=/rules`)
		if !strings.HasPrefix(w.Header().Get("Location"), "/rules?") {
			t.Errorf("got %v, want the page again", w.Header())
		}
		if w := post(t, c, "/api/rules/r0", kindJSON, `{}`); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("got %d, want a rule asked for", w.Code)
		}
		if got, want := strings.Join(did, "; "), "revoke r0 no; revoke r0 no; edit r0 fs_read true; edit r0 fs_read false"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
