package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/web"
)

// key is that of the console.
func (r *running) key(t *testing.T) string {
	t.Helper()
	return r.out.find(t, `\?key=(\S+)\n`)
}

// ask asks the console of an up, and reads what it answers.
func (r *running) ask(t *testing.T, method, path string, body, answer any) int {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	q, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(r.url, mcpPath)+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+r.key(t))
	res, err := r.caller(t, "").http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(res.Body)
	if err := errorsOf(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if answer != nil {
		if err := json.Unmarshal(got, answer); err != nil {
			t.Fatalf("got %s, %v", got, err)
		}
	}
	return res.StatusCode
}

func (r *running) rules(t *testing.T) (all web.Rules) {
	t.Helper()
	if code := r.ask(t, http.MethodGet, "/api/rules", nil, &all); code != http.StatusOK {
		t.Fatalf("got %d", code)
	}
	return all
}

func (r *running) explain(t *testing.T, tool, args string) (e web.Explained) {
	t.Helper()
	if code := r.ask(t, http.MethodPost, "/api/explain", web.Imagined{Tool: tool, Args: json.RawMessage(args)}, &e); code != http.StatusOK {
		t.Fatalf("%s: got %d", tool, code)
	}
	return e
}

func TestConsoleKey(t *testing.T) {
	t.Parallel()
	t.Run("M5 who calls tools cannot allow them, and the console's key calls none", func(t *testing.T) {
		t.Parallel()
		r := up(t, t.TempDir(), nil)
		if status, answer, err := r.caller(t, r.key(t)).say(t.Context(), "ping", nil); err != nil || status != http.StatusUnauthorized {
			t.Errorf("got %d, %s, %v, want the key refused as a token", status, answer, err)
		}
		c := r.caller(t, r.token)
		c.url = strings.TrimSuffix(r.url, mcpPath) + "/api/questions"
		if status, answer, err := c.say(t.Context(), "allow", nil); err != nil || status != http.StatusUnauthorized {
			t.Errorf("got %d, %s, %v, want the token refused as a key", status, answer, err)
		}
	})
}

func TestConsoleRules(t *testing.T) {
	t.Parallel()
	const config = "policy:\n  allow: [\"fs_write(path: notes/**)\"]\n  deny: [\"shell(rm*)\", fs_grep]\n  always: [{rule: \"fs_write(path: b.txt)\", source: builtin}, {rule: \"fs_write(path: c.txt)\", source: builtin}]\n"
	writes := func(path string) string { return `{"path":"` + path + `","content":"x"}` }
	t.Run("P1 a call is explained by what the tool says of it", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "ferrule.yaml"), config)
		r := up(t, dir, nil)
		if all := r.rules(t); all.Mode != "ask" || len(all.Written) != 3 || len(all.Lasting) != 2 || len(all.Notes) != 0 || !slices.Contains(all.Tools, "fs_read") {
			t.Errorf("got %+v", all)
		}
		if e := r.explain(t, "fs_write", writes("notes/a.txt")); e.Verdict != "allow" || len(e.Fits) != 1 || e.Fits[0].Where != "ferrule.yaml, allow 1" || !strings.Contains(strings.Join(e.Known, "\n"), "notes/a.txt") {
			t.Errorf("got %+v, want it allowed by the rule for that path", e)
		}
		if e := r.explain(t, "fs_write", writes("a.txt")); e.Verdict != "ask" || e.Answer != nil || len(e.Changes) == 0 {
			t.Errorf("got %+v, want it asked for", e)
		}
		if e := r.explain(t, "fs_write", writes("b.txt")); e.Verdict != "ask" || e.Answer == nil || e.Answer.Rule == "" {
			t.Errorf("got %+v, want it answered by a rule", e)
		}
		if e := r.explain(t, "fs_wriet", writes("a.txt")); !e.Unknown || e.Verdict != "ask" {
			t.Errorf("got %+v, want that there is no such tool", e)
		}
		if e := r.explain(t, "shell", `{"command":"rm -r x"}`); e.Unknown || e.Verdict != "deny" {
			t.Errorf("got %+v, want it denied", e)
		}
		if e := r.explain(t, "fs_grep", `{"pattern":"x"}`); e.Verdict != "deny" || len(e.Notes) == 0 {
			t.Errorf("got %+v, want a tool that nobody is shown denied", e)
		}
		if e := r.explain(t, "no_such", `{}`); e.Verdict != "ask" || len(e.Notes) == 0 || !strings.Contains(e.Notes[0], "no tool of this name") {
			t.Errorf("got %+v, want what is not known said", e)
		}
		var f struct{ Error string }
		if code := r.ask(t, http.MethodPost, "/api/explain", web.Imagined{Tool: "fs_write", Args: json.RawMessage(`{"x":1}`)}, &f); code != http.StatusUnprocessableEntity || f.Error == "" {
			t.Errorf("got %d, %q, want what is wrong with the arguments", code, f.Error)
		}
	})
	t.Run("U1 a rule of the file that is revoked or edited counts at once, and is on the record", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		file := filepath.Join(dir, "ferrule.yaml")
		write(t, file, config)
		r := up(t, dir, nil)
		of := func(path string) string {
			all := r.rules(t)
			i := slices.IndexFunc(all.Lasting, func(l web.Lasting) bool { return strings.Contains(l.Rule, path) })
			if i < 0 {
				t.Fatalf("got %+v, want a rule for %s", all, path)
			}
			return all.Lasting[i].ID
		}
		c := r.caller(t, r.token)
		c.hello(t)
		if answer, err := c.called(t.Context(), "fs_write", map[string]any{"path": "b.txt", "content": "b"}); err != nil || strings.Contains(answer, `"isError":true`) {
			t.Fatalf("got %s, %v, want it allowed by the rule", answer, err)
		}
		if code := r.ask(t, http.MethodPost, "/api/rules/"+of("b.txt")+"/revoke", map[string]string{"reason": "it was for once"}, nil); code != http.StatusOK {
			t.Fatalf("got %d", code)
		}
		if code := r.ask(t, http.MethodPost, "/api/rules/"+of("c.txt"), map[string]string{"rule": "fs_write(path: d.txt)"}, nil); code != http.StatusOK {
			t.Fatalf("got %d", code)
		}
		for path, answered := range map[string]bool{"b.txt": false, "c.txt": false, "d.txt": true} {
			if e := r.explain(t, "fs_write", writes(path)); (e.Answer != nil) != answered {
				t.Errorf("%s: got %+v, want answered: %v", path, e, answered)
			}
		}
		all := r.rules(t)
		if len(all.Lasting) != 1 || all.Lasting[0].Lost != "" || len(all.Notes) != 0 {
			t.Errorf("got %+v, want one rule that counts, and no change but ours", all)
		}
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), "b.txt") || !strings.Contains(string(text), "d.txt") {
			t.Errorf("got %s, %v", text, err)
		}
		if answer, err := c.called(t.Context(), "fs_write", map[string]any{"path": "d.txt", "content": "d"}); err != nil || strings.Contains(answer, `"isError":true`) {
			t.Errorf("got %s, %v, want the new rule to answer", answer, err)
		}
		out, errs, code := try(t.Context(), dir, "audit", "list", "--json")
		if code != 0 || !strings.Contains(out, "it was for once") || !strings.Contains(out, "changed the rule") {
			t.Errorf("got %s%s, want both on the record", out, errs)
		}
		write(t, file, strings.Replace(string(text), "deny:", "ask:", 1))
		if all := r.rules(t); len(all.Notes) != 1 || len(all.Written) != 3 || all.Written[0].Effect != "deny" {
			t.Errorf("got %+v, want what was read at the start, and that the file differs", all)
		}
		write(t, file, "policy: {always: [later]}\n")
		if all := r.rules(t); len(all.Lasting) != 2 || all.Lasting[0].Where[0] != whereHere || all.Lasting[1].Lost != lostLater {
			t.Errorf("got %+v, want which one counts here and which one later", all.Lasting)
		}
		if code := r.ask(t, http.MethodPost, "/api/rules/"+of("d.txt")+"/revoke", nil, nil); code != http.StatusOK || r.explain(t, "fs_write", writes("d.txt")).Answer != nil {
			t.Errorf("got %d, want the rule that only this process has gone", code)
		}
		if code := r.ask(t, http.MethodPost, "/api/rules/nothing/revoke", nil, nil); code != http.StatusUnprocessableEntity {
			t.Errorf("got %d, want a refusal", code)
		}
	})
}
