package ferrule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/leak"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// outside is all that has left a runtime, by what it left as.
type outside struct {
	mu    sync.Mutex
	texts map[string]string
}

func (o *outside) add(where, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.texts[where] += text
}

// observe takes down an event, and each stream as one text.
func (o *outside) observe(e audit.Event) {
	o.add("event", fmt.Sprintf("%s %s %s %s %s %+v\n", e.Kind, e.Name, e.By, e.Text, e.Args, e.Decision))
	if u := e.Update; u != nil {
		o.add("update "+u.Stream, u.Text)
		o.add("progress", u.Message+"\n")
		if u.Content != nil {
			o.add("streamed block", printed(*u.Content))
		}
	}
	if e.Result != nil {
		o.result("event of a result", *e.Result)
	}
}

// printed is a block as JSON and as it is.
func printed(c tool.Content) string {
	text, _ := json.Marshal(c)
	return fmt.Sprintf("%s\n%s\n%s\n", text, c, c.Data)
}

func (o *outside) result(where string, res tool.Result) {
	text, _ := json.Marshal(res)
	o.add(where, fmt.Sprintf("%s\n%s\n", text, res))
	for err := range causes(res.Err) {
		o.add(where, fmt.Sprintf("%v\n%+v\n", err, err))
	}
}

// causes are an error and all in it.
func causes(err *tool.Error) map[error]bool {
	all := make(map[error]bool)
	var walk func(error)
	walk = func(err error) {
		if err == nil || all[err] {
			return
		}
		all[err] = true
		switch e := err.(type) { //nolint:errorlint // each of them is looked at
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				walk(inner)
			}
		}
	}
	if err != nil {
		walk(err)
	}
	return all
}

// blurt is a tool that says a text in one of the ways that there are.
func blurt(ctx context.Context, way int, text string, cut leak.Choose) (tool.Result, error) {
	env := tool.From(ctx)
	pieces := func(write func(string)) {
		for rest := text; rest != ""; {
			n := 1 + cut(min(len(rest), 9))
			write(rest[:n])
			rest = rest[n:]
		}
	}
	quoted, _ := json.Marshal(map[string]any{"a": []string{text}, text: 1})
	switch way {
	case 0:
		return sayText("it is " + text + "."), nil
	case 1:
		return sayJSON(string(quoted)), nil
	case 2:
		return tool.Result{}, fmt.Errorf("outer: %w", errors.New(text))
	case 3:
		return tool.Result{}, &tool.Error{Kind: tool.Failed, Text: "for the model " + text, Detail: "for the operator " + text, Cause: &marked{text}}
	case 4:
		panic(text)
	case 5:
		pieces(func(s string) { fmt.Fprint(env.Stdout(), s) })
		return tool.Result{}, nil
	case 6:
		pieces(func(s string) { fmt.Fprint(env.Stderr(), s) })
		return sayText("done"), nil
	case 7:
		env.Progress(1, 2, text)
		env.Emit(tool.Text(text))
		env.Emit(tool.Content{Type: tool.JSONContent, JSON: quoted})
		return tool.Result{}, nil
	case 8:
		return tool.Result{Content: []tool.Content{
			{Type: tool.LinkContent, URI: text, Name: text, MediaType: "text/plain", Text: text},
			{Type: tool.ImageContent, MediaType: "image/png", Data: []byte("x" + text), Name: "a"},
		}}, nil
	}
	if _, ok := env.Answer(); ok {
		return sayText("answered"), nil
	}
	return tool.Result{}, &tool.Outcome{Suspend: text, Err: errors.New(text)}
}

// TestSecretsStay holds all that leaves against a value: in any spelling, said in
// any way, between any pieces.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	t.Run("K3 a value that was given out never appears in anything that leaves", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(r *rapid.T) {
			value := rapid.OneOf(
				rapid.StringMatching(`[A-Za-z0-9_/+=-]{12,48}`),
				rapid.StringMatching(`[!-~][ -~é世😀]{8,20}[!-~]`),
				rapid.StringMatching(`[A-Za-z0-9+/]{20}\n[A-Za-z0-9+/]{20}\nend of it`),
			).Filter(func(s string) bool { return strings.Trim(s, " +%") == s }).Draw(r, "value")
			choose := leak.Choose(func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "choice") })
			text, spelling := leak.Spell(choose, value)
			way := rapid.IntRange(0, 9).Draw(r, "way")
			hooked := rapid.Bool().Draw(r, "hooked")

			out := &outside{texts: make(map[string]string)}
			var file bytes.Buffer
			rt := &ferrule.Runtime{
				Secrets: vaultOf(r, value), Observe: out.observe, Record: ferrule.NewRecorder(&file),
				Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
					shown, _ := json.Marshal(q)
					out.add("question", string(shown)+q.Wants)
					return policy.Answer{Allow: true, Text: "yes"}, nil
				},
			}
			used := false
			if hooked {
				rt.Hooks = []ferrule.Hook{
					{Name: "in", Input: func(context.Context, *tool.Request) (ferrule.Change, error) {
						return ferrule.Change{Context: "beside " + text}, nil
					}},
					outputHook(func(now, _ tool.Result) (*tool.Result, error) {
						out.result("an output hook", now)
						return nil, nil
					}),
				}
			}
			d := using(func(ctx context.Context, got string) (tool.Result, error) {
				used = got == value
				return blurt(ctx, way, text, choose)
			})
			out.result("result", callOne(t, rt, d, ""))
			out.add("recording", file.String())
			if !used {
				r.Fatal("the tool was not given the value")
			}
			for _, where := range slices.Sorted(func(yield func(string) bool) {
				for where := range out.texts {
					if !yield(where) {
						return
					}
				}
			}) {
				if how := leak.Way(out.texts[where], value); how != "" {
					r.Errorf("%q, spelled as %s and said in way %d, can be read as %s in the %s: %q", value, spelling, way, how, where, out.texts[where])
				}
			}
			if events := out.texts["event"]; !strings.Contains(events, "scrubbed push  s0") {
				r.Errorf("no event says that it was taken out: %s", events)
			}
		})
	})
}
