package web

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/tool"
)

// began is when everything in these tests begins.
var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// toldLines makes lines of a short text: a call, what happened to it after so many
// milliseconds, and a word for it, such as "a requested@0, a ended@12 denied".
func toldLines(text string) (lines []Line) {
	for i, part := range strings.Split(text, ", ") {
		words := strings.Fields(part)
		kind, at, _ := strings.Cut(words[1], "@")
		var ms int
		if _, err := fmt.Sscan(at, &ms); err != nil {
			panic(err) // in a test
		}
		e := audit.Entry{Kind: audit.Kind(strings.ReplaceAll(kind, "_", " ")), ID: words[0], Tool: "tool-" + words[0], Session: "s", Turn: 1, Time: began.Add(time.Duration(ms) * time.Millisecond)}
		word := strings.Join(words[2:], " ")
		switch e.Kind { //nolint:exhaustive // the others have no word
		case audit.Requested, audit.Changed:
			e.Args = word
		case audit.Asked:
			e.Question = word
		case audit.Resolved:
			e.Text, e.By = word, "ada"
		case audit.Answered, audit.Governed:
			e.Text, e.Question, _ = strings.Cut(word, " ")
			e.By = "ada"
		case audit.Ended:
			e.Result = &audit.Outcome{IsError: word != "", Kind: word, Preview: "preview"}
			e.Took = time.Millisecond
		}
		lines = append(lines, Line{Place: int64(i + 1), Entry: e})
	}
	return lines
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, lines, want string }{
		{"U1 one that has just come", "a requested@0", "a waiting"},
		{"U1 one that runs", "a requested@0, a decided@1, a started@2", "a running"},
		{"U1 one that went well", "a requested@0, a started@2, a ended@3", "a done"},
		{"P6 one that is asked for", "a requested@0, a asked@1 q", "a asked"},
		{"P6 one that was answered", "a requested@0, a asked@1 q, a answered@2 allow q", "a waiting"},
		{"P6 one that was handed back", "a requested@0, a asked@1 q, a ended@2 suspended", "a asked"},
		{"P6 its client does not know of the yes yet", "a requested@0, a asked@1 q, a ended@2 suspended, a governed@3 allow q", "a waiting"},
		{"P6 nor of the no", "a requested@0, a asked@1 q, a ended@2 suspended, a governed@3 reject q", "a refused"},
		{"P6 the tool itself has asked, and goes on", "a requested@0, a started@1, a asked@2 q, a answered@3 allow q", "a running"},
		{"P6 also with a no", "a requested@0, a started@1, a asked@2 q, a answered@3 reject q", "a running"},
		{"P6 made anew it is one call", "a requested@0, a asked@1 q, a ended@2 suspended, b requested@3, b answered@4 allow q, b started@5, b ended@6", "b done"},
		{"P6 in the middle of that", "a requested@0, a asked@1 q, a ended@2 suspended, b requested@3, b asked@4 q", "b asked"},
		{"D5 in their order of arrival", "a requested@0, b requested@1, b ended@2, a ended@3 failed", "a failed, b done"},
		{"U1 what was done by a person afterwards", "a requested@0, a started@1, a ended@2 outcome_unknown, a resolved@9 it was done", "a done"},
		{"J2 what a person says was not done", "a requested@0, a started@1, a ended@2 outcome_unknown, a resolved@9 it was not done: I looked", "a stopped"},
		{"J2 and then it runs", "a requested@0, a started@1, a resolved@9 it was not done, a requested@10, a started@11", "a running"},
		{"P6 with a second question it is one call all the same", "a requested@0, a asked@1 q, a ended@2 suspended, b requested@3, b asked@4 q, b answered@5 allow q, b started@6, b asked@7 r", "b asked"},
		{"P6 handed back at the second question", "a requested@0, a asked@1 q, a answered@2 allow q, a started@3, a asked@4 r, a ended@5 suspended, b requested@6, b answered@7 allow r, b ended@8", "b done"},
		{"P6 an equal call that ran on the yes is another", "a requested@0, a asked@1 q, b requested@2, b asked@3 q, a answered@4 allow q, a started@5, a ended@6, b asked@7 r", "a done, b asked"},
		{"P6 also where the later one was quicker", "a requested@0, a asked@1 q, b requested@2, b asked@3 q, b answered@4 allow q, b started@5, b ended@6, a asked@7 r", "a asked, b done"},
		{"U1 lines of no call", " found@0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines := []Line{{Place: 1, Entry: audit.Entry{Kind: audit.Found}}}
			if tt.want != "" {
				lines = toldLines(tt.lines)
			}
			var got []string
			for _, c := range fold(lines) {
				got = append(got, c.ID+" "+string(c.State))
			}
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
	t.Run("P6 a call that was made anew has the times of the first", func(t *testing.T) {
		t.Parallel()
		c := fold(toldLines(`a requested@0 {"x":1}, a asked@1 q, a ended@2 suspended, a governed@30 allow q, b requested@40 {"x":1}, b answered@41 allow q, b started@42, b cut@43, b cut@43, b ended@44`))[0]
		got := fmt.Sprint(c.Requested.Sub(began), c.AskedAt.Sub(began), c.Answered.Sub(began), c.Started.Sub(began), c.Ended.Sub(began), " ", c.Args, c.Marks, c.Answer, c.Place)
		if want := `0s 1ms 30ms 42ms 44ms {"x":1}[cut]ada: allow1`; strings.ReplaceAll(got, "  ", " ") != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("L2 every kind of error can be looked for", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile("../../tool/error.go")
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(`\bKind = "(\w+)"`).FindAllSubmatch(text, -1)
		for _, k := range all {
			if !slices.Contains((wanted{}).Kinds(), tool.Kind(k[1])) {
				t.Errorf("%s is not listed", k[1])
			}
		}
		if len(all) != len((wanted{}).Kinds()) {
			t.Errorf("got %d kinds, want %d", len((wanted{}).Kinds()), len(all))
		}
	})
	t.Run("U1 a call is found by its arguments as they are shown", func(t *testing.T) {
		t.Parallel()
		lines := []Line{{Entry: audit.Entry{Args: `{"path":"a \u0026 b","limit":330}`}}}
		for _, text := range []string{"limit: 330", `"limit": 330`, `"limit":330`, "a & b, limit", "path: a"} {
			if !said(lines, text) {
				t.Errorf("%s is not found", text)
			}
		}
		if said(lines, "limit: 331") {
			t.Error("got what does not stand there")
		}
	})
	t.Run("L2 every kind of error is some state", func(t *testing.T) {
		t.Parallel()
		for _, k := range (wanted{}).Kinds() {
			if s := stateOf(k); s == Waiting || s == Running || s == Done {
				t.Errorf("%s: got %s", k, s)
			}
		}
	})
}

func TestGroups(t *testing.T) {
	t.Parallel()
	now := began.Add(10 * time.Second)
	t.Run("D1 calls of a turn, and those that follow at once, stand together", func(t *testing.T) {
		t.Parallel()
		lines := toldLines("a requested@0, a started@0, b requested@1, b started@101, a ended@100, b ended@200, c requested@300, c started@300, c ended@400, d requested@9000, d started@9000")
		for i := range lines {
			lines[i].Turn = map[string]int{"a": 1, "b": 1, "c": 2, "d": 3}[lines[i].ID]
		}
		groups := grouped(fold(lines), now)
		var got []string
		for _, g := range groups {
			text := ""
			for _, c := range g.Calls {
				text += c.ID
				if c.After != "" {
					text += "(after " + c.After + ")"
				}
			}
			got = append(got, fmt.Sprintf("%s %.0f", text, g.Span()))
		}
		if diff := cmp.Diff([]string{"d 1000", "ab(after tool-a)c 400"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("P6 bars are what was waited for, and what ran", func(t *testing.T) {
		t.Parallel()
		for lines, want := range map[string]string{
			"a requested@0, a started@0, a ended@100":                                             "done 0+100",
			"a requested@0, a asked@0 q, a answered@50 allow q, a started@80, a ended@100 failed": "asked 0+50 queued 50+30 failed 80+20",
			"a requested@0, a asked@0 q, a answered@100 deny q, a ended@100 rejected":             "asked 0+100 refused 99.5+0.5",
			"a requested@0, a started@0":                                                          "running 0+100",
			"a requested@0, a asked@0 q":                                                          "asked 0+100",
			"a requested@0":                                                                       "queued 0+100",
		} {
			groups := grouped(fold(toldLines(lines)), began.Add(100*time.Millisecond))
			got := ""
			for _, b := range groups[0].Bars(groups[0].Calls[0]) {
				got += fmt.Sprintf("%s %v+%v ", b.Kind, b.X, b.W)
			}
			if strings.TrimSpace(got) != want {
				t.Errorf("%s: got %s, want %s", lines, got, want)
			}
		}
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	t.Run("G1 arguments in a line", func(t *testing.T) {
		t.Parallel()
		for in, want := range map[string]string{
			`{"command":"git push \u0026\u0026 ls"}`: "git push && ls",
			`{"path":"a","lines":[1,2]}`:             "path: a, lines: [1,2]",
			`{"b":1,"a":"x\ny"}`:                     "b: 1, a: x y",
			`{}`:                                     "",
			`[1]`:                                    "[1]",
			`{"a":`:                                  `{"a":`,
			"[withheld: secret]":                     "[withheld: secret]",
			`{"a":"` + "\u202e" + `gpj.exe"}`:        "‹U+202E›gpj.exe",
		} {
			if got := argsText(in, 60); got != want {
				t.Errorf("%s: got %q, want %q", in, got, want)
			}
		}
	})
	t.Run("G1 JSON as somebody would write it", func(t *testing.T) {
		t.Parallel()
		for in, want := range map[string]string{`"a \u0026\u0026 b\u003c\u003e"`: `"a && b<>"`, `"\\u0026"`: `"\\u0026"`, `"\n\u2028"`: `"\n\u2028"`, `\`: `\`, `"\\\u0026"`: `"\\&"`} {
			if got := unescaped(in); got != want {
				t.Errorf("%s: got %s, want %s", in, got, want)
			}
		}
	})
	t.Run("U1 how long something took", func(t *testing.T) {
		t.Parallel()
		for ms, want := range map[float64]string{0: "", 0.12: "120 µs", 12.7: "12 ms", 1500: "1.5 s", 90_000: "1m30s", -1: ""} {
			if got := tookText(ms); got != want {
				t.Errorf("%v: got %q, want %q", ms, got, want)
			}
		}
	})
}
