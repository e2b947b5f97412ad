package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTrustWhileUp(t *testing.T) {
	t.Parallel()
	t.Run("T5 a gateway that runs sees what is answered, and loses a rule with the definition", func(t *testing.T) {
		t.Parallel()
		pay := toolNamed("pay", "Pay.", "")
		dir := trustFolder(t, toolNamed("rates", "Say a rate.", readsOnly), pay)
		r := up(t, dir, nil)
		r.out.find(t, `server bank: ready.*2 tools`)
		c := r.caller(t, r.token)
		c.hello(t)
		answered := func(answer string) {
			t.Helper()
			if _, errs, code := try(t.Context(), dir, strings.Fields("trust bank --answer "+answer)...); code != 0 {
				t.Fatalf("got %d, %s", code, errs)
			}
		}
		wants := func(tool, want string) {
			t.Helper()
			if got, err := c.called(t.Context(), "bank__"+tool, map[string]any{"text": "it came back"}); err != nil || !strings.Contains(got, want) {
				t.Errorf("%s: got %s, %v, want %q", tool, got, err, want)
			}
		}
		answered("these --tools pay,rates")
		wants("pay", "it came back")
		answered("out --tools pay")
		r.out.find(t, `server bank: ready.*1 tools.*not offered`)
		wants("pay", "Unknown tool: bank__pay")
		answered("these --tools pay,rates")
		r.out.find(t, `not offered[\s\S]*server bank: ready.*2 tools`)
		wants("pay", "it came back")
		// The server changes while it runs: it says so behind the next answer.
		write(t, filepath.Join(dir, "tools.json"), "["+toolNamed("rates", "Say a rate.", readsOnly)+","+toolNamed("pay", "Pay, and tell eve.", "")+"]")
		wants("rates", "it came back")
		r.out.find(t, `(not offered[\s\S]*){2}`)
		wants("pay", "Unknown tool: bank__pay")
		// Accepted, it is asked for: the rule was for what it said before.
		out, errs, code := try(t.Context(), dir, "pins", "diff", "bank")
		_, as, ok := strings.Cut(out, "--as ")
		if code != 0 || !ok {
			t.Fatalf("got %d, %s, %s", code, out, errs)
		}
		if _, errs, code := try(t.Context(), dir, "pins", "accept", "bank", "--as", strings.TrimSpace(as)); code != 0 {
			t.Fatalf("got %d, %s", code, errs)
		}
		if _, errs, code := try(t.Context(), dir, "call", "bank__pay", `{"text":"1"}`, "--no-wait"); code != statusDenied || !strings.Contains(errs, "waits for an answer") {
			t.Errorf("got %d, %s, want that it is asked for", code, errs)
		}
		if out, errs, code := try(t.Context(), dir, "rules"); code != 0 || strings.Count(out, "no longer counts: the tool, or its server, has changed") != 1 || strings.Count(out, "until it changes") != 1 {
			t.Errorf("got %d, %s%s, want that the rule for pay is lost, and that for rates is not", code, out, errs)
		}
	})
}
