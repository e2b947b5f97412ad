package ferrule_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// TestTexts runs the conversations of testdata/texts. The first line of a file
// names the rule and what it shows. Its sections are read from top to bottom:
//
//	rules     what is set, one setting a line; see textStage.set
//	calls     one turn, one call a line: name and arguments
//	model     what the model reads of that turn: for each call a line with the
//	          name and the kind, then the text, indented
//	operator  what the operator reads of the calls that have no ordinary result;
//	          stack traces are cut, Ferrule's ids are ID
//	person    what a person was asked in that turn, in the order of the calls
//
// What a file does not want to see it leaves out.
func TestTexts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/texts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("conversations: %v, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		title, sections := readArchive(string(text))
		t.Run(title, func(t *testing.T) {
			bubble(t, func(t *testing.T) { talk(t, name, sections) })
		})
	}
}

// section is a file of an archive.
type section struct{ name, text string }

// readArchive reads the txtar format: the first line, and the files.
func readArchive(text string) (title string, sections []section) {
	title, rest, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(rest) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			if name, ok = strings.CutSuffix(strings.TrimSpace(name), " --"); ok {
				sections = append(sections, section{name: name})
				continue
			}
		}
		if n := len(sections); n > 0 {
			sections[n-1].text += line
		}
	}
	return title, sections
}

func TestReadArchive(t *testing.T) {
	t.Parallel()
	title, sections := readArchive("L1 a\nremark\n-- x --\n1\n-- no\n2\n-- y z --\n-- x --\n3")
	want := []section{{"x", "1\n-- no\n2\n"}, {"y z", ""}, {"x", "3"}}
	if title != "L1 a" || !slices.Equal(sections, want) {
		t.Errorf("readArchive = %q, %q", title, sections)
	}
}

// talk plays one conversation.
func talk(t *testing.T, file string, sections []section) {
	t.Helper()
	st := &textStage{t: t, rt: &ferrule.Runtime{}}
	var results []tool.Result
	var calls []tool.Call
	for _, s := range sections {
		var got string
		switch s.name {
		case "rules":
			for line := range strings.Lines(s.text) {
				st.set(strings.TrimSpace(line))
			}
			continue
		case "calls":
			st.asked = nil
			calls = callsIn(s.text)
			results = st.session().View(t.Context()).Do(t.Context(), calls...)
			continue
		case "model":
			got = modelText(calls, results)
		case "operator":
			got = operatorText(calls, results)
		case "person":
			got = st.personText()
		default:
			t.Fatalf("%s: a section %q", file, s.name)
		}
		if got != s.text {
			t.Errorf("%s: %s\n--- got\n%s--- want\n%s", file, s.name, got, s.text)
		}
	}
}

func callsIn(text string) (calls []tool.Call) {
	for line := range strings.Lines(text) {
		name, input, _ := strings.Cut(strings.TrimSpace(line), " ")
		calls = append(calls, tool.Call{ID: "call_" + strconv.Itoa(len(calls)+1), Name: name, Input: json.RawMessage(input)})
	}
	return calls
}

func modelText(calls []tool.Call, results []tool.Result) string {
	var b strings.Builder
	for i, res := range results {
		fmt.Fprintf(&b, "%s: %s\n%s", calls[i].Name, cmp.Or(string(kindOf(res)), "ok"), indented(res.String()))
	}
	return b.String()
}

func operatorText(calls []tool.Call, results []tool.Result) string {
	var b strings.Builder
	ids := regexp.MustCompile(`\b[a-z2-7]{12}-[0-9a-z]+(\.\d+)?(-q[0-9a-z]+)?\b`)
	for i, res := range results {
		if res.Err == nil {
			continue
		}
		detail, _, cut := strings.Cut(res.Err.Error(), "\ngoroutine ")
		if cut {
			detail += "\n(stack trace)"
		}
		fmt.Fprintf(&b, "%s\n%s", calls[i].Name, indented(ids.ReplaceAllString(detail, "ID")))
	}
	return b.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
}

// textStage is a runtime with the tools of textTools, as a file sets it.
type textStage struct {
	t    *testing.T
	rt   *ferrule.Runtime
	s    *ferrule.Session
	deny map[string]tool.Decision

	mu    sync.Mutex
	asked []policy.Question
}

// set reads one setting.
func (st *textStage) set(line string) {
	word, rest, _ := strings.Cut(line, " ")
	more, last, _ := strings.Cut(rest, " ")
	rt := st.rt
	switch word + " " + more {
	case "policy deny", "policy ask": // NAME REASON
		name, reason, _ := strings.Cut(last, " ")
		d := tool.Decision{Verdict: tool.Deny, Rule: "rule 1", Reason: reason}
		if more == "ask" {
			d.Verdict = tool.Ask
		}
		if st.deny == nil {
			st.deny = make(map[string]tool.Decision)
		}
		st.deny[name] = d
		rt.Policy = policy.Func(func(r *tool.Request) tool.Decision {
			if d, ok := st.deny[r.Tool.Name]; ok {
				return d
			}
			return tool.Decision{Verdict: tool.Silent}
		})
	case "policy panic":
		rt.Policy = policy.Func(func(*tool.Request) tool.Decision { panic(last) })
	case "answer yes": // TEXT, for a tool that wants to know something
		st.answer(policy.Answer{Allow: true, By: "ann", Text: last}, nil)
	case "answer edit": // ARGUMENTS
		st.answer(policy.Answer{Allow: true, By: "ann", Input: json.RawMessage(last)}, nil)
	case "answer no": // MESSAGE
		st.answer(policy.Answer{By: "ann", Message: last}, nil)
	case "answer because": // REASON
		st.answer(policy.Answer{By: "ann", Reason: last}, nil)
	case "answer never":
		rt.Inbox = new(policy.Memory)
	case "answer fail": // ERROR
		st.answer(policy.Answer{}, errors.New(last))
	case "siblings always", "siblings never":
		rt.Siblings = ferrule.Siblings(more)
	case "limit " + more:
		rt.Limit, _ = strconv.Atoi(more)
	case "fallback " + more:
		st.fallback(more, last)
	case "hook " + more:
		rt.Hooks = append(rt.Hooks, textHook(more, last, false))
	case "security " + more:
		rt.Hooks = append(rt.Hooks, textHook(more, last, true))
	default:
		st.t.Fatalf("setting %q", line)
	}
}

func (st *textStage) answer(a policy.Answer, err error) {
	st.rt.Answer = func(_ context.Context, q policy.Question) (policy.Answer, error) {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.asked = append(st.asked, q)
		return a, err
	}
}

func (st *textStage) fallback(how, text string) {
	st.session() // it can be set at any time
	st.rt.SetFallback(func(_ context.Context, _ tool.Caller, name string) (*tool.Tool, error) {
		switch how {
		case "fail":
			return nil, errors.New(text)
		case "nothing":
			return nil, nil
		}
		d := readerTool(name)
		if how == "writer" {
			d = writerTool(name)
		}
		return d.Check()
	})
}

func (st *textStage) session() *ferrule.Session {
	if st.s == nil {
		viewWith(st.t, st.rt, textTools()...)
		st.s = st.rt.Session(tool.Caller{Session: "s"})
	}
	return st.s
}

func (st *textStage) personText() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	slices.SortStableFunc(st.asked, func(a, b policy.Question) int { return a.Index - b.Index })
	var b strings.Builder
	for _, q := range st.asked {
		fmt.Fprintf(&b, "%s %s\n", q.Tool, q.Input)
		for _, part := range []struct{ name, text string }{{"wants", q.Wants}, {"preview", q.Preview}, {"reason", q.Reason}, {"rule", q.Rule}, {"note", q.Note}} {
			if part.text != "" {
				fmt.Fprintf(&b, "  %s: %s\n", part.name, part.text)
			}
		}
	}
	return b.String()
}

func textHook(how, text string, security bool) ferrule.Hook {
	return ferrule.Hook{Name: "audit", Security: security, Input: func(_ context.Context, r *tool.Request) (ferrule.Change, error) {
		switch how {
		case "block":
			return ferrule.Change{Block: text}, nil
		case "context":
			return ferrule.Change{Context: text}, nil
		case "change":
			return ferrule.Change{Input: json.RawMessage(text)}, nil
		case "more": // for ever
			n, _ := strconv.Atoi(strings.Trim(textIn(r.Args), `"`))
			return ferrule.Change{Input: json.RawMessage(textArg(strconv.Itoa(n + 1)))}, nil
		case "panic":
			panic(text)
		}
		return ferrule.Change{}, errors.New(text)
	}}
}

// textTools are the tools of the conversations. All take a text; what each does
// is in its name.
func textTools() []tool.Tool {
	fails := func(name string, err error) tool.Tool {
		return doing(readerTool(name), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, err })
	}
	validate := readerTool("validate")
	validate.Validate = func(_ context.Context, a tool.Args) (json.RawMessage, error) {
		switch textIn(a) {
		case "":
			return nil, errors.New("text: got nothing, want a word")
		case "bad":
			return json.RawMessage(`{"text":1}`), nil
		case "panic":
			panic("index 3 of /srv/list")
		}
		return json.RawMessage(textArg(strings.ToLower(textIn(a)))), nil
	}
	permit := readerTool("permit")
	permit.Permit = func(_ context.Context, a tool.Args) (tool.Decision, error) {
		switch textIn(a) {
		case "no":
			return tool.Decision{Verdict: tool.Deny, Reason: "text: no is not permitted"}, nil
		case "fail":
			return tool.Decision{}, errors.New("dial db.internal:5432: refused")
		}
		return tool.Decision{Verdict: tool.Ask, Reason: "permit wants to know"}, nil
	}
	count := countTool(`{"n":"one"}`)
	late := readerTool("deferred")
	late.Deferred = true
	ask := readerTool("ask")
	ask.Approval, ask.AskReason, ask.RejectText = tool.AskAlways, "it is important", "The person does not want this."
	preview := writerTool("preview")
	preview.Preview = func(_ context.Context, a tool.Args) (string, error) {
		if textIn(a) == "" {
			return "", errors.New("cannot")
		}
		return "would write " + textIn(a), nil
	}
	wants := readerTool("suspend")
	wants.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		if answer, ok := tool.From(ctx).Answer(); ok {
			return sayText("It is " + answer + "."), nil
		}
		return tool.Result{}, &tool.Outcome{Suspend: "Which colour?"}
	}
	slow, block := readerTool("slow"), readerTool("block")
	slow.Cancel = true
	slow.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		select {
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		case <-time.After(30 * time.Second):
			return sayText("slept"), nil
		}
	}
	block.Run = slow.Run
	hang := readerTool("hang")
	hang.Run = sleepy[tool.Result]
	stop := doing(readerTool("stop"), func(context.Context, tool.Args) (tool.Result, error) {
		time.Sleep(time.Second)
		return tool.Result{}, &tool.Outcome{Err: errors.New("the disk is full"), StopSiblings: true}
	})
	fail := doing(readerTool("fail"), func(context.Context, tool.Args) (tool.Result, error) {
		time.Sleep(time.Second)
		return tool.Result{}, errors.New("no such table: orders")
	})
	timeout := doing(readerTool("timeout"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, errors.New("reading db.internal:5432: timed out")
	})
	return []tool.Tool{
		readerTool("read"), writerTool("write"), fail, stop, slow, block, hang, timeout, validate, permit, count, late, ask, preview, wants,
		fails("paths", &tool.Error{Text: "The file is not there.", Detail: "open /srv/data/a: no such file"}),
		fails("fatal", &tool.Outcome{Err: errors.New("the account is closed"), Fatal: true}),
		fails("busy", &tool.Outcome{Err: errors.New("too many requests"), RetryAfter: time.Minute}),
		fails("silent", &tool.Error{Detail: "open /srv/data/a: no such file"}),
		fails("liar", &tool.Error{Kind: tool.Rejected, Text: "A person said no."}),
		doing(readerTool("panic"), func(context.Context, tool.Args) (tool.Result, error) { panic("nil map in /srv/app") }),
		doing(readerTool("nothing"), func(context.Context, tool.Args) (tool.Result, error) { return tool.Result{}, nil }),
		doing(readerTool("image"), func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text("A cat:"), {Type: tool.ImageContent, MediaType: "image/png", Data: []byte("png")}}}, nil
		}),
		doing(readerTool("half"), func(context.Context, tool.Args) (tool.Result, error) { return sayText("the first half"), errBroken }),
		doing(readerTool("empty_image"), func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{{Type: tool.ImageContent, MediaType: "image/png"}}}, nil
		}),
	}
}
