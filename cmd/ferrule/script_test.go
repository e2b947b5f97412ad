package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

var update = flag.Bool("update", false, "write what the commands of testdata/*.txtar print")

// TestScripts runs the commands of each script and compares what they print. In
// a script
//
//	== a title                   begins a part, and names the subtest
//	> ferrule policy check       is a command, run in this process
//	> ask FILE                   puts the questions of a file
//	> use ID                     uses the answer, as a runtime does
//	> grant FILE                 keeps the grants of a file
//	> log FILE                   puts the events of a file on the record
//	> save FILE ferrule …        is a command that prints to a file
//	> replace FILE OLD NEW       changes what stands in a file
//	> begin FILE                 begins the calls of a file, ends those that are done, and is gone
//	> run FILE                   does so, and stays
//	> env NAME=VALUE             sets a variable
//	> cat FILE                   prints a file
//	> mode FILE                  prints its permissions
//	> chmod MODE FILE            sets them
//	> lines TEXT ferrule doctor  is a command of which only lines with TEXT count
//	> answer allow               answers the one question that waits, with these words
//
// and what follows is what it prints: standard error behind "! ", and the exit
// status, where it is not 0, in brackets. For the names of writers, for keys and for
// the time of a head, which are others each time, stand WRITER, KEY and TIME; SHOWN is a digest of
// trust or pins, and in a command (--as $SHOWN) the last that was printed. $DIR is
// the folder of the script. In files \-- begins a line of an archive within, and $SERVER is an MCP server: testdata/server.
func TestScripts(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("got %v, %v, want scripts", names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s := newScript(t, archive)
			var all strings.Builder
			for part := range strings.SplitSeq("\n"+string(archive.Comment), "\n== ") {
				title, rest, _ := strings.Cut(part, "\n")
				if title == "" {
					continue
				}
				t.Run(title, func(t *testing.T) {
					got := s.run(t, rest)
					if want := strings.TrimRight(rest, "\n") + "\n"; got != want && !*update {
						t.Errorf("got\n%s\nwant\n%s", got, want)
					}
					all.WriteString("== " + title + "\n" + got + "\n")
				})
			}
			if *update {
				archive.Comment = []byte(all.String())
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// script is where the commands of one script run.
type script struct {
	dir    string
	server string
	env    []string
	base   time.Time // when questions are asked; commands run 90 s later
	own    func() []*tool.Tool
	as     string // the last digest that was printed
}

func newScript(t *testing.T, archive *txtar.Archive) *script {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := serverProgram(t)
	written := time.Now().Add(-time.Minute)
	for i, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("\\-- ", "-- ", "$SERVER", server, "$DIR", filepath.ToSlash(dir)).Replace(string(f.Data))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		// One after the other, also where the clock of the file system is coarse.
		at := written.Add(time.Duration(i) * time.Millisecond)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return &script{dir: dir, server: server, env: []string{"USER=ada"}, base: time.Now(), own: testTools(dir, nil)}
}

// run runs the commands of a part and gives them with what they printed.
func (s *script) run(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "> ")
		if !ok {
			continue
		}
		fmt.Fprintf(&out, "> %s\n", command)
		args := words(t, command)
		switch args[0] {
		case "ferrule":
			s.ferrule(t, &out, args[1:])
		case "ask":
			s.ask(t, args[1])
		case "use":
			s.use(t, args[1])
		case "grant":
			s.grant(t, args[1])
		case "log":
			s.log(t, args[1])
		case "save":
			var printed strings.Builder
			s.ferrule(t, &printed, args[3:])
			s.write(t, args[1], printed.String())
		case "replace":
			text, err := os.ReadFile(filepath.Join(s.dir, args[1]))
			if err != nil || !strings.Contains(string(text), args[2]) {
				t.Fatalf("%s: got %v and no %q in it", args[1], err, args[2])
			}
			s.write(t, args[1], strings.Replace(string(text), args[2], args[3], 1))
		case "begin":
			if err := s.begin(t, args[1]).Close(); err != nil {
				t.Fatal(err)
			}
		case "run":
			s.begin(t, args[1])
		case "env":
			s.env = append([]string{args[1]}, s.env...)
		case "cat":
			text, err := os.ReadFile(filepath.Join(s.dir, args[1]))
			fmt.Fprint(&out, s.plain(string(text), err))
		case "answer":
			s.answer(t, &out, args[1:])
		case "lines":
			var printed strings.Builder
			s.ferrule(t, &printed, args[3:])
			for line := range strings.Lines(printed.String()) {
				if strings.Contains(line, args[1]) {
					out.WriteString(line)
				}
			}
		case "chmod":
			mode, err := strconv.ParseUint(args[1], 8, 32)
			if err == nil {
				err = os.Chmod(filepath.Join(s.dir, args[2]), os.FileMode(mode))
			}
			if err != nil {
				t.Fatal(err)
			}
		case "mode":
			info, err := os.Stat(filepath.Join(s.dir, args[1]))
			if err != nil {
				fmt.Fprint(&out, s.plain("", err))
				continue
			}
			fmt.Fprintln(&out, info.Mode())
		default:
			t.Fatalf("%s: no such command", args[0])
		}
	}
	return nameless(out.String())
}

func (s *script) plain(text string, err error) string {
	if err != nil {
		text = err.Error() + "\n"
	}
	text = regexp.MustCompile(s.base.Format(time.DateOnly)+`[ T]\d\d:\d\d:\d\d(\.\d+)?Z?|after [\d.]+(m|µ)?s\b`).ReplaceAllString(text, "TIME") // which is another each time
	return strings.NewReplacer(s.dir, "$DIR", s.server, "$SERVER").Replace(text)
}

func (s *script) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// nameless puts words for what is another each time.
func nameless(text string) string {
	text = regexp.MustCompile(`made, at [-0-9T:]+Z,`).ReplaceAllString(text, "made, at TIME,")
	text = regexp.MustCompile(`\b(call|run)-[a-z2-7]{8}\b`).ReplaceAllString(text, "SESSION")
	text = regexp.MustCompile(`(?m)(^|undo of |before |undo )[a-z2-7]{10}( |,|$)`).ReplaceAllString(text, "${1}CHANGE${2}")
	text = regexp.MustCompile(`\b[a-z2-7]{12}-\d+\.`).ReplaceAllString(text, "RUN.")
	text = regexp.MustCompile(`\bt?[0-9a-f]{32}\b`).ReplaceAllString(text, "SHOWN")
	text = regexp.MustCompile(`\br[\w-]{11}(,? +bank__)`).ReplaceAllString(text, "RULE$1")   // of trust: bound to the folder
	text = regexp.MustCompile(`\bby rule r[\w-]{11}`).ReplaceAllString(text, "by rule RULE") // which may end with a -
	text = regexp.MustCompile(`mark="[0-9a-f]{12}"`).ReplaceAllString(text, `mark="MARK"`)   // nobody can foresee it
	text = regexp.MustCompile(`"usage":\{"input":\d+`).ReplaceAllString(text, `"usage":{"input":0`)
	text = regexp.MustCompile(`"took":\d+`).ReplaceAllString(text, `"took":0`)
	text = regexp.MustCompile(`"took_ms":\d+`).ReplaceAllString(text, `"took_ms":0`)
	text = regexp.MustCompile(`\b[A-Z2-7]{26}\b`).ReplaceAllString(text, "WRITER")
	text = regexp.MustCompile(`\bq[\w-]{16}([^\w-]|$)`).ReplaceAllString(text, "QUESTION$1")
	return regexp.MustCompile(`(key |with |--key )[\w-]{43}\b`).ReplaceAllString(text, "${1}KEY")
}

// log puts events on the record, as a runtime does.
func (s *script) log(t *testing.T, file string) {
	t.Helper()
	var list []struct {
		audit.Event
		ID, CallID, Tool, Session, Principal, Source, Mode string
		Turn, Index                                        int
		Verdict                                            tool.Verdict
		Rule, Reason                                       string
		Output                                             string
		Error                                              *tool.Error
	}
	s.decode(t, file, &list)
	st := s.open(t)
	for _, l := range list {
		e := l.Event
		if l.ID != "" {
			e.Request = &tool.Request{
				ID: l.ID, CallID: l.CallID, Name: l.Tool, CalledAs: l.Tool, Turn: l.Turn, Index: l.Index, Mode: l.Mode, Tool: &tool.Info{Name: l.Tool},
				Caller: tool.Caller{Session: l.Session, Principal: l.Principal}, Source: tool.Source{Name: l.Source, Trust: tool.Own}, Claims: tool.Claims{Parallel: true},
			}
		}
		if l.Kind == audit.Decided {
			e.Decision = &tool.Decision{Verdict: l.Verdict, Rule: l.Rule, Reason: l.Reason}
		}
		if l.Kind == audit.Ended {
			e.Result = &tool.Result{Err: l.Error}
			if l.Output != "" {
				e.Result.Content = []tool.Content{tool.Text(l.Output)}
			}
		}
		if _, err := st.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *script) ferrule(t *testing.T, out *strings.Builder, args []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &program{
		stdin: strings.NewReader(`{"from":"standard input"}`), stdout: &stdout, stderr: &stderr, environ: s.env, dir: s.dir,
		now: func() time.Time { return s.base.Add(90 * time.Second) }, helper: helper, own: s.own, keys: formKeys{}, patience: 2 * time.Minute,
	}
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$SHOWN", s.as)
	}
	code := p.run(t.Context(), args)
	if as := regexp.MustCompile(`--as (t?[0-9a-f]{32})\b`).FindStringSubmatch(stdout.String()); as != nil {
		s.as = as[1]
	}
	for line := range strings.Lines(s.plain(stdout.String(), nil)) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	for line := range strings.Lines(s.plain(stderr.String(), nil)) {
		out.WriteString("! " + line)
	}
	if code != 0 {
		fmt.Fprintf(out, "[%d]\n", code)
	}
}

// answer answers the one question that waits.
func (s *script) answer(t *testing.T, out *strings.Builder, args []string) {
	t.Helper()
	list, err := s.open(t).Pending(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("got %d questions, %v, want one", len(list), err)
	}
	var printed strings.Builder
	s.ferrule(t, &printed, slices.Concat([]string{"approvals", args[0], list[0].ID}, args[1:]))
	out.WriteString(strings.ReplaceAll(printed.String(), list[0].ID, "QUESTION"))
}

// open opens the store that the program would.
func (s *script) open(t *testing.T) *store.Store {
	t.Helper()
	p := &program{environ: s.env, dir: s.dir}
	c, err := p.load()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.storeOf(c), s.dir) {
		t.Fatalf("%s: want a store below %s: set FERRULE_HOME", p.storeOf(c), s.dir)
	}
	if _, err := store.Home(p.homeOf(c)); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), p.storeOf(c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func (s *script) ask(t *testing.T, file string) {
	t.Helper()
	var list []policy.Question
	s.decode(t, file, &list)
	st := s.open(t)
	for _, q := range list {
		q.Asked, q.Expires, q.Digest = s.base, s.base.Add(24*time.Hour), "digest"
		if err := st.Ask(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *script) use(t *testing.T, id string) {
	t.Helper()
	if _, err := s.open(t).Use(t.Context(), id, "digest"); err != nil {
		t.Fatal(err)
	}
}

func (s *script) grant(t *testing.T, file string) {
	t.Helper()
	var list []policy.Grant
	s.decode(t, file, &list)
	st := s.open(t)
	for _, g := range list {
		if _, err := st.Grant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
}

// begin is a process that runs calls.
func (s *script) begin(t *testing.T, file string) *store.Store {
	t.Helper()
	var list []durable.Record
	s.decode(t, file, &list)
	st := s.open(t)
	for _, r := range list {
		r.Began = s.base
		if _, err := st.Begin(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if r.State != durable.Done {
			continue
		}
		if err := st.End(t.Context(), durable.Ending{ID: r.ID, Attempt: 1, Result: r.Result, Failed: r.Failed}); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func (s *script) decode(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

// words splits a line as a shell does, with single and double quotes.
func words(t *testing.T, line string) (list []string) {
	t.Helper()
	var b strings.Builder
	quote, open := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case quote == 0 && c == ' ':
			if open || b.Len() > 0 {
				list = append(list, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteRune(c)
		}
	}
	if quote != 0 {
		t.Fatalf("%s: a quote does not end", line)
	}
	if open || b.Len() > 0 {
		list = append(list, b.String())
	}
	return list
}
