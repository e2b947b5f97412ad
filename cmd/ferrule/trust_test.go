package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/mcptool"
)

func TestTrustHints(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, hints string
		says        string
		reads, mild bool
	}{
		{"T5 what says nothing does not read", `{}`, "", false, false},
		{"T5 what says that it only reads does", `{"readOnlyHint":true}`, "reads only", true, true},
		{"T5 also where it says the rest", `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true}`, "reads only, destroys nothing, idempotent, open world", true, true},
		{"T5 what says that it destroys as well does not", `{"readOnlyHint":true,"destructiveHint":true}`, "reads only, DESTROYS", false, false},
		{"T5 what writes does not", `{"readOnlyHint":false,"openWorldHint":false}`, "writes, closed world", false, false},
		{"T5 what destroys nothing may still write", `{"destructiveHint":false}`, "destroys nothing", false, true},
		{"T5 a hint of another type is none", `{"readOnlyHint":"true","destructiveHint":0}`, "", false, false},
		{"T5 neither are hints that are no object", `[true]`, "", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var one trustedTool
			one.read(json.RawMessage(`{"name":"a","description":" Do it.","inputSchema":{"type":"object"},"annotations":` + tt.hints + `}`))
			if got := strings.Join(one.Says, ", "); got != tt.says || one.Reads != tt.reads || one.mild != tt.mild {
				t.Errorf("got %q, reads %v, mild %v, want %q, %v, %v", got, one.Reads, one.mild, tt.says, tt.reads, tt.mild)
			}
			if tt.hints != `[true]` && (one.Description != "Do it." || one.Tokens != 6) {
				t.Errorf("got %q, %d tokens, want its text, and 6", one.Description, one.Tokens)
			}
		})
	}
}

// screenOf is a screen with tools; of each the name, and behind it what is special.
func screenOf(tools ...string) *trustScreen {
	s := &trustScreen{Server: "bank"}
	for i, t := range tools {
		name, what, _ := strings.Cut(t, " ")
		one := trustedTool{
			Number: i + 1, Tool: name, Name: "bank__" + name, Reads: what == "reads", Destroys: what == "destroys",
			mild: what == "reads" || what == "unseen", seen: what != "unseen",
		}
		if what == "waits" {
			one.Findings, one.pin.Now = []string{"it is new"}, json.RawMessage(`{}`)
		}
		s.Tools = append(s.Tools, one)
	}
	return s
}

func TestTrustTyped(t *testing.T) {
	t.Parallel()
	s := screenOf("balance reads", "close destroys", "odd waits", "pay", "rates reads", "far unseen")
	tests := []struct{ line, want string }{
		{"a", "ask"},
		{"ask", "ask"},
		{"r", "reads allow balance rates"},
		{"o", "out all"},
		{"o 2, pay", "out out close pay"},
		{"o 1-3", "out out balance close odd"},
		{"1", "these allow balance"},
		{"pay bank__rates", "these allow pay rates"},
		{"t 1,4", "these allow balance pay"},
		{"4 4 pay", "these allow pay"},
		{"3", "these allow odd accept odd"},
		{"close", "these allow close"},
		{"1-5", "these allow balance rates; not by a range, only one by one: close, odd, pay"},
		{"1-5 2", "these allow balance rates close; not by a range, only one by one: close, odd, pay"},
		{"2-4", "! not by a range, only one by one: close, odd, pay"},
		{"6", "! got 6, want numbers of tools that were shown, and 1 was not: say all to see them, or a name"},
		{"1-6", "! got 1-6, want numbers of tools that were shown, and 1 was not: say all to see them, or a name"},
		{"1 far", "these allow balance far"},
		{"o 5-6", "out out rates far"},
		{"0", "! got 0, want numbers from 1 to 6"},
		{"7", "! got 7, want numbers from 1 to 6"},
		{"4-2", "! got 4-2, want numbers from 1 to 6"},
		{"1-99999999999999999999", `! trust: bank has no tool "1-99999999999999999999": ` + "`ferrule trust bank` lists them"},
		{"pya", `! trust: bank has no tool "pya": did you mean pay?`},
		{"a pay", `! got "pay" behind it, want nothing; tools that are called so are named behind a t`},
		{"t", "! which? say numbers or names, as in: t 1 3-5"},
		{",", "! got nothing that names a tool"},
		{"yes\u202e", "! trust: bank has no tool \"yes<U+202E>\": `ferrule trust bank` lists them"},
	}
	for _, tt := range tests {
		t.Run("T5 typed: "+tt.line, func(t *testing.T) {
			t.Parallel()
			c, notes, err := s.understood(tt.line)
			if got := described(c, notes, err); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// described is a choice in words.
func described(c choice, notes []string, err error) string {
	if err != nil {
		return "! " + err.Error()
	}
	words := []string{c.said}
	if c.whole {
		words = append(words, "all")
	}
	for i, t := range c.allow {
		if i == 0 {
			words = append(words, "allow")
		}
		words = append(words, t.Tool)
	}
	for _, part := range []struct {
		word  string
		names []string
	}{{"accept", c.accept}, {"out", c.out}} {
		if len(part.names) > 0 {
			words = append(append(words, part.word), part.names...)
		}
	}
	return strings.Join(append([]string{strings.Join(words, " ")}, notes...), "; ")
}

// trustFolder is a folder with a server bank that has these tools, as JSON.
func trustFolder(t *testing.T, tools ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	list := filepath.Join(dir, "tools.json")
	write(t, list, "["+strings.Join(tools, ",\n")+"]")
	write(t, filepath.Join(dir, "ferrule.yaml"), fmt.Sprintf("servers:\n  bank: {command: %q, env: {%s: \"1\", FERRULE_TEST_TOOLS: %q}}\n", serverProgram(t), beServer, list))
	return dir
}

func toolNamed(name, says, hints string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{%s}}`, name, says, hints)
}

const readsOnly = `"readOnlyHint":true`

// looked is the screen as programs have it.
func looked(t *testing.T, dir string) (s trustScreen) {
	t.Helper()
	out, errs, code := try(t.Context(), dir, "trust", "bank", "--json")
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 {
		t.Fatalf("got %d, %s, %s, %v, want a screen", code, out, errs, err)
	}
	return s
}

func TestTrust(t *testing.T) {
	t.Parallel()
	t.Run("T5 a script answers exactly what it saw", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("rates", "Say a\u200b rate.", readsOnly), toolNamed("pay", "Pay.", ""))
		s := looked(t, dir)
		if len(s.Tools) != 2 || s.Tools[1].State != mcptool.PinBlocked || s.Tools[1].Reads || s.Totals.Findings != 1 || s.Answer != nil || s.Tools[0].Stands != "asked for" {
			t.Fatalf("got %+v, want one tool that is asked for and one that hides something", s)
		}
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "these", "--tools", "rates", "--as", s.Digest); code != 0 {
			t.Fatalf("got %d, %s", code, errs)
		}
		if out, errs, code := try(t.Context(), dir, "call", "bank__rates", `{"text":"7"}`); code != 0 || !strings.Contains(out, "\n7\n") {
			t.Errorf("got %d, %q, %s, want that it is accepted and allowed", code, out, errs)
		}
		if out, errs, _ := try(t.Context(), dir, "audit", "list", "--kind", "governed", "--json"); !strings.Contains(out, "accepted rates of server bank as it was shown, sha256:") {
			t.Errorf("got %s, %s, want what was accepted on the record", out, errs)
		}
		again := looked(t, dir)
		if again.Digest == s.Digest || again.Answer == nil || again.Answer.Said != "these" || again.Totals.Allowed != 1 {
			t.Errorf("got %+v, want another screen, with the answer", again)
		}
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "ask", "--as", s.Digest); code != 1 || !strings.Contains(errs, "is not what bank is now") {
			t.Errorf("got %d, %s, want that the screen is an old one", code, errs)
		}
	})
	t.Run("T5 what was accepted although it hides something is not allowed as a read", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("rates", "Say a\u200b rate.", readsOnly), toolNamed("pay", "Pay.", ""))
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "these", "--tools", "rates", "--as", looked(t, dir).Digest); code != 0 {
			t.Fatalf("got %d, %s", code, errs)
		}
		out, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads")
		if code != 0 || !strings.Contains(out, "bank: every call is asked for") || !strings.Contains(out, "taken back: 1 rule") {
			t.Errorf("got %d, %s, %s, want that nothing is allowed", code, out, errs)
		}
	})
	t.Run("T5 a tool that is new to the server is not allowed as a read", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("a", "Read.", readsOnly))
		looked(t, dir)
		write(t, filepath.Join(dir, "tools.json"), "["+toolNamed("a", "Read.", readsOnly)+","+toolNamed("b", "Read too.", readsOnly)+"]")
		out, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads")
		if code != 0 || !strings.Contains(out, "only reads: bank__a; the rest") {
			t.Errorf("got %d, %s, %s, want that only a is allowed", code, out, errs)
		}
	})
	t.Run("T5 of many tools the screen shows some, those first that should be looked at", func(t *testing.T) {
		t.Parallel()
		tools := make([]string, 5000)
		for i := range tools {
			tools[i] = fmt.Sprintf("t%04d reads", i)
		}
		tools[4321], tools[4444] = "t4321 destroys", "t4444 waits"
		s := screenOf(tools...)
		printed := func(all bool) string {
			for i := range s.Tools {
				s.Tools[i].seen = false
			}
			var out bytes.Buffer
			p := &program{stdout: &out, now: time.Now, out: &shown{to: &out}}
			p.printScreen(s, all)
			return out.String()
		}
		out := printed(false)
		if s.Tools[4000].seen || !s.Tools[0].seen || !s.Tools[4321].seen || !s.Tools[4444].seen {
			t.Error("got another note of what was seen, want what is on the screen")
		}
		if n := strings.Count(out, "\n"); n > 80 || !strings.Contains(out, "t4321") || !strings.Contains(out, "t4444 !") || !strings.Contains(out, "and 4940 tools more: --all") {
			t.Errorf("got %d lines, %s", n, out)
		}
		if n := strings.Count(printed(true), "\n"); n < 5000 || !s.Tools[4000].seen {
			t.Errorf("got %d lines, want all", n)
		}
		for i := range tools {
			tools[i] = fmt.Sprintf("t%04d waits", i)
		}
		s = screenOf(tools...)
		if out := printed(false); !s.Tools[maxTrustFindings-1].seen || s.Tools[maxTrustFindings].seen {
			t.Errorf("got %s, want that a tool was not seen whose findings are not there", out)
		}
	})
	t.Run("T5 many tools are allowed at once", func(t *testing.T) {
		t.Parallel()
		var tools []string
		for i := range 80 {
			tools = append(tools, toolNamed(fmt.Sprintf("t%02d", i), "Read.", readsOnly))
		}
		dir := trustFolder(t, tools...)
		if out, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads"); code != 0 || !strings.Contains(out, "and 75 others") || len(out) > 1000 {
			t.Errorf("got %d, %s, %s, want 80 rules, and a few names", code, out, errs)
		}
		if out, errs, code := try(t.Context(), dir, "call", "bank__t42", `{"text":"x"}`); code != 0 {
			t.Errorf("got %d, %s, %s, want that it is allowed", code, out, errs)
		}
	})
	t.Run("T5 of many who answer what they saw one is heard", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("a", "A.", readsOnly), toolNamed("b", "B.", ""))
		s := looked(t, dir)
		answers := []string{"reads", "out", "these --tools b", "ask"}
		codes := make([]int, len(answers))
		var all sync.WaitGroup
		for i, answer := range answers {
			all.Go(func() {
				_, errs, code := try(t.Context(), dir, strings.Fields("trust bank --as "+s.Digest+" --answer "+answer)...)
				if codes[i] = code; code != 0 && !strings.Contains(errs, "it is not what was shown any more") && !strings.Contains(errs, "is not what bank is now") {
					t.Errorf("got %d, %s, want that it is another by now", code, errs)
				}
			})
		}
		all.Wait()
		if n := len(slices.DeleteFunc(codes, func(code int) bool { return code != 0 })); n != 1 {
			t.Errorf("got %d that were heard, want 1", n)
		}
	})
	t.Run("T5 who has answered for one program has not for another under its name", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("a", "A.", readsOnly))
		p := &program{dir: dir, now: time.Now}
		want := func(what string, n int) {
			t.Helper()
			if left, err := p.unanswered([]string{"bank"}); err != nil || len(left) != n {
				t.Errorf("%s: got %q, %v, want %d", what, left, err, n)
			}
		}
		want("before", 1)
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads"); code != 0 {
			t.Fatalf("got %d, %s", code, errs)
		}
		want("after", 0)
		file := filepath.Join(dir, "ferrule.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []struct {
			what, old, new string
			left           int
		}{
			{"another argument", "env: {", "args: [x], env: {", 1},
			{"another command", "command: \"", "command: \"/x", 1},
			{"another variable", "env: {", "env: {X: y, ", 0},
		} {
			write(t, file, strings.Replace(string(text), other.old, other.new, 1))
			want(other.what, other.left)
		}
	})
	t.Run("T5 a server that wants a login says so", func(t *testing.T) {
		t.Parallel()
		if text, code := newOAuthWorld(t).try("trust", "s", "--answer", "reads"); code != 1 || !strings.Contains(text, "trust: s needs login: ferrule servers login s") {
			t.Errorf("got %d, %s, want what to do", code, text)
		}
	})
	t.Run("T5 where the state cannot be written nothing is answered", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("a", "A.", readsOnly))
		write(t, filepath.Join(dir, "home"), "no folder")
		if _, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads", "--home", filepath.Join(dir, "home")); code == 0 || !strings.Contains(errs, "--home and FERRULE_HOME name another directory") {
			t.Errorf("got %d, %s, want what to do", code, errs)
		}
	})
	t.Run("T5 pins that cannot be read let nothing be answered", func(t *testing.T) {
		t.Parallel()
		dir := trustFolder(t, toolNamed("a", "A.", readsOnly))
		looked(t, dir)
		files, err := filepath.Glob(filepath.Join(dir, ".ferrule", "pins", "bank.*.json"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := try(t.Context(), dir, "trust", "bank", "--answer", "reads"); code != 1 || !strings.Contains(errs, files[0]) {
			t.Errorf("got %d, %s, %s, want which file it is", code, out, errs)
		}
	})
}
