package ferrule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/guard"
	"github.com/ferrule-dev/ferrule/guard/redact"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// awsKeys finds keys of one form.
type awsKeys struct{}

var awsForm = regexp.MustCompile(`AKI` + `A[0-9A-Z]{16}`)

func (awsKeys) Scan(text string) (found []redact.Span, err error) {
	for _, m := range awsForm.FindAllStringIndex(text, -1) {
		found = append(found, redact.Span{Start: m[0], End: m[1], Kind: "aws-key"})
	}
	return found, nil
}

// unready is a scanner that never finishes.
type unready struct{}

func (unready) Scan(string) ([]redact.Span, error) { return nil, errors.New("no rules") }

// someKey is the key of nobody.
func someKey(n int) string { return "AKI" + "A" + fmt.Sprintf("%016d", n) }

// places are all that content goes to, beside the model.
type places struct {
	mu   sync.Mutex
	seen strings.Builder
	dir  string
}

// around gives a runtime everywhere that content can go to.
func around(t *testing.T, rt *ferrule.Runtime) *places {
	t.Helper()
	p := &places{dir: t.TempDir()}
	blobs, err := durable.OpenDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	rt.Blobs, rt.Journal, rt.Ledger = blobs, putting{new(durable.MemoryJournal), p}, new(policy.Memory)
	rt.Log, rt.Record = audit.NewLines(p), ferrule.NewRecorder(p)
	rt.Observe = func(e audit.Event) {
		e.Request = nil // it is as it was made
		p.put(e)
	}
	rt.Answer = func(_ context.Context, q policy.Question) (policy.Answer, error) {
		p.put(q)
		return policy.Answer{Allow: true}, nil
	}
	return p
}

func (p *places) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.Write(b)
}

func (p *places) put(what any) {
	text, err := json.Marshal(what)
	if err != nil {
		text = []byte(err.Error())
	}
	_, _ = p.Write(append(text, '\n'))
}

// all is what they were given.
func (p *places) all(t *testing.T) string {
	t.Helper()
	p.mu.Lock()
	text := p.seen.String()
	p.mu.Unlock()
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		text += string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// putting is a journal that is looked at.
type putting struct {
	durable.Journal
	to *places
}

func (j putting) Begin(ctx context.Context, r durable.Record) (durable.Record, error) {
	j.to.put(r)
	return j.Journal.Begin(ctx, r)
}

func (j putting) End(ctx context.Context, e durable.Ending) error {
	j.to.put(e)
	return j.Journal.End(ctx, e)
}

// keyed is a session of a runtime that takes keys out, with these tools of a source.
func keyed(t *testing.T, rt *ferrule.Runtime, trust tool.Trust, defs ...tool.Tool) *ferrule.Session {
	t.Helper()
	if rt.Guard == nil {
		rt.Guard = &guard.Guard{Keys: awsKeys{}, Sanitize: guard.Pass}
	}
	var list []*tool.Tool
	for _, d := range defs {
		list = append(list, checkedTool(t, d))
	}
	if err := rt.Set(tool.Source{Name: "src", Trust: trust}, list...); err != nil {
		t.Fatal(err)
	}
	return rt.Session(tool.Caller{Session: "s"})
}

func TestKeysInResults(t *testing.T) {
	t.Parallel()
	key, other := someKey(1), someKey(2)
	long := strings.Repeat("line of a log\n", 9000) + key
	for _, tt := range []struct {
		name string
		run  func(context.Context, tool.Args) (tool.Result, error)
		want string // of it the model sees
	}{
		{"G5 a text", func(context.Context, tool.Args) (tool.Result, error) {
			return sayText("it is " + key + ", not " + other), nil
		}, "it is [SECRET:aws-key:1], not [SECRET:aws-key:2]"},
		{"G5 the same value has the same placeholder", func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text(other), tool.Text(key + " " + other)}}, nil
		}, "[SECRET:aws-key:1]\n[SECRET:aws-key:2] [SECRET:aws-key:1]"},
		{"G5 structured content", func(context.Context, tool.Args) (tool.Result, error) {
			return sayJSON(`{"a":["` + key[:5] + `\u00` + fmt.Sprintf("%02x", key[5]) + key[6:] + `"]}`), nil
		}, `{"a":["[SECRET:aws-key:1]"]}`},
		{"G5 what a file holds that is text", func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{{Type: tool.ImageContent, MediaType: "image/svg+xml", Data: []byte(key)}}}, nil
		}, ""},
		{"G5 an error", func(context.Context, tool.Args) (tool.Result, error) {
			return tool.Result{}, fmt.Errorf("could not use %s: %w", key, context.Canceled)
		}, "could not use [SECRET:aws-key:1]"},
		{"G5 what was streamed, however it is cut", func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			for _, c := range "say " + key + "\nand " + other {
				_, _ = fmt.Fprint(tool.From(ctx).Stdout(), string(c))
			}
			return tool.Result{}, nil
		}, "say [SECRET:aws-key:1]\nand [SECRET:aws-key:2]"},
		{"G5 what is said by the way", func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			tool.From(ctx).Progress(1, 2, "with "+key)
			tool.From(ctx).Emit(tool.Text("has " + key))
			return tool.Result{}, nil
		}, "has [SECRET:aws-key:1]"},
		{"G5 what is kept elsewhere", func(context.Context, tool.Args) (tool.Result, error) { return sayText(long), nil }, "line of a log"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := &ferrule.Runtime{Policy: allowAll}
			to := around(t, rt)
			s := keyed(t, rt, tool.Own, doing(writerTool("read"), tt.run))
			res := s.Call(t.Context(), "src__read", "{}")
			shown, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			text := res.String()
			if !strings.Contains(text, tt.want) {
				t.Errorf("the model is given %q, want %q", text, tt.want)
			}
			if err := rt.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			all := to.all(t)
			for _, key := range []string{key, other} {
				for who, text := range map[string]string{"model": string(shown) + text + fmt.Sprintf("%+v %#v", res.Err, res.Err), "places": all} {
					if i := strings.Index(text, key); i >= 0 {
						t.Errorf("%s: a key stands in %q", who, text[max(0, i-200):min(len(text), i+100)])
					}
				}
			}
			if !strings.Contains(all, `"kind":"scrubbed"`) || !strings.Contains(all, "[SECRET:aws-key:1]") {
				t.Errorf("nothing on the record says that a key was taken out: %.2000s", all)
			}
			if res.Err != nil && !errors.Is(res.Err, context.Canceled) {
				t.Errorf("got %v, want what the error was", res.Err)
			}
		})
	}
}

func TestKeysInArguments(t *testing.T) {
	t.Parallel()
	key := someKey(1)
	t.Run("G5 what the model sends is not on the record, nor shown to who is asked", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Policy: policy.Func(func(r *tool.Request) tool.Decision {
			return tool.Decision{Verdict: tool.Ask, Reason: "of " + r.Args.Text()}
		})}
		to := around(t, rt)
		d := writerTool("send")
		d.Preview = func(_ context.Context, a tool.Args) (string, error) { return "sends " + textIn(a), nil }
		var got string
		d.Run = func(_ context.Context, a tool.Args) (tool.Result, error) {
			got = textIn(a)
			return sayText("sent " + got), nil
		}
		res := keyed(t, rt, tool.Own, d).Call(t.Context(), "src__send", textArg("use "+key))
		if err := rt.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got != "use "+key || res.String() != "sent use [SECRET:aws-key:1]" {
			t.Errorf("the tool got %q, the model %q", got, res)
		}
		if all := to.all(t); strings.Contains(all, key) || !strings.Contains(all, `sends use [SECRET:aws-key:1]`) {
			t.Errorf("places have %s", all)
		}
	})
	t.Run("G5 what a person changes beside a key leaves the key", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{AskReads: true}
		rt.Answer = func(_ context.Context, q policy.Question) (policy.Answer, error) {
			return policy.Answer{Allow: true, Input: json.RawMessage(strings.Replace(q.Input, "use", "take", 1))}, nil
		}
		var got string
		d := doing(writerTool("send"), func(_ context.Context, a tool.Args) (tool.Result, error) {
			got = textIn(a)
			return sayText("sent"), nil
		})
		if res := keyed(t, rt, tool.Own, d).Call(t.Context(), "src__send", textArg("use "+key)); res.Err != nil || got != "take "+key {
			t.Errorf("the tool got %q: %v", got, res)
		}
	})
}

// pathTool writes a text to a file that it is named.
func pathTool(got *string) tool.Tool {
	d := writerTool("write")
	d.Input = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"path":{"type":"string"},"short":{"type":"string","maxLength":19}}}`)
	where := func(a tool.Args) string {
		var in struct {
			Path string `json:"path"`
		}
		_ = a.Decode(&in)
		return in.Path
	}
	d.ClaimsOf = func(a tool.Args) (tool.Claims, error) {
		return tool.Claims{Local: true, Touches: []tool.Access{{Resource: "file:/" + where(a), Write: true}}}, nil
	}
	d.Facts = func(a tool.Args) (tool.Facts, error) {
		return tool.Facts{Commands: [][]string{strings.Fields(textIn(a))}}, nil
	}
	d.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
		if r := tool.From(ctx).Request(); strings.Contains(r.Args.Text(), someKey(1)) {
			return sayText("the request has the value"), nil
		}
		*got = a.Text()
		return sayText("wrote " + a.Text()), nil
	}
	return d
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	key := someKey(1)
	remote := readerTool("remote")
	remote.Claims.Local = false
	for _, tt := range []struct {
		name        string
		trust       tool.Trust
		tool, input string
		got, want   string // by the tool; by the model
	}{
		{"G5 a built-in tool of this machine gets the value", tool.BuiltIn, "write", `{"text":"k=[SECRET:aws-key:1]","path":"a"}`, `{"text":"k=` + key + `","path":"a"}`, `wrote {"text":"k=[SECRET:aws-key:1]","path":"a"}`},
		{"G5 however it is escaped", tool.BuiltIn, "write", `{"text":"\u005bSECRET:aws-key:1]"}`, `{"text":"` + key + `"}`, `wrote {"text":"[SECRET:aws-key:1]"}`},
		{"G5 what was never given out is a text", tool.BuiltIn, "write", `{"text":"[SECRET:aws-key:2] [SECRET:key:1]"}`, `{"text":"[SECRET:aws-key:2] [SECRET:key:1]"}`, "wrote "},
		{"G5 another tool is refused", tool.Own, "src__write", `{"text":"[SECRET:aws-key:1]"}`, "", "ValidationError: [SECRET:aws-key:1] in the arguments stands for a value that was taken out of an earlier result"},
		{"G5 a tool that reaches outside is refused", tool.BuiltIn, "remote", `{"text":"[SECRET:aws-key:1]"}`, "", "only tools that are built in and stay on this machine are given the value"},
		{"G5 no part of what was decided on is put back", tool.BuiltIn, "write", `{"text":"","path":"[SECRET:aws-key:1]"}`, "", "with the value the call would be another one"},
		{"G5 a value that breaks a command is not put back", tool.BuiltIn, "write", `{"text":"echo [SECRET:private-key:1]"}`, "", "with the value the call would be another one"},
		{"G5 a value that does not fit is not put back", tool.BuiltIn, "write", `{"short":"[SECRET:aws-key:1]"}`, "", "the value does not fit in there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := &ferrule.Runtime{Policy: policy.Func(func(r *tool.Request) tool.Decision {
				if strings.Contains(r.Args.Text(), key) {
					return tool.Decision{Verdict: tool.Deny, Reason: "the rules are shown a value"}
				}
				return tool.Decision{Verdict: tool.Ask}
			})}
			to := around(t, rt)
			var got string
			leak := doing(readerTool("leak"), func(context.Context, tool.Args) (tool.Result, error) {
				return sayText(key + "\n-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIE", 20) + "\n-----END PRIVATE KEY-----\n"), nil
			})
			write := pathTool(&got)
			s := keyed(t, rt, tt.trust, leak, write, remote)
			name := "leak"
			if tt.trust != tool.BuiltIn {
				name = "src__leak"
			}
			if res := s.Call(t.Context(), name, "{}"); res.String() != "[SECRET:aws-key:1]\n[SECRET:private-key:1]\n" {
				t.Fatalf("got %q", res)
			}
			res := s.Call(t.Context(), tt.tool, tt.input)
			if err := rt.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got != tt.got || !strings.Contains(res.String(), tt.want) || (res.Err != nil) != (tt.got == "") || res.Err != nil && res.Err.Kind != tool.InvalidValue {
				t.Errorf("the tool got %q, the model %v", got, res)
			}
			if strings.Contains(res.String(), key) || strings.Contains(to.all(t), key) {
				t.Errorf("the value is seen: %v\n%s", res, to.all(t))
			}
		})
	}
	t.Run("G5 another session did not give it out", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Policy: allowAll}
		leak := doing(readerTool("leak"), func(context.Context, tool.Args) (tool.Result, error) { return sayText(key), nil })
		keyed(t, rt, tool.BuiltIn, leak, readerTool("echo")).Call(t.Context(), "leak", "{}")
		if res := rt.Session(tool.Caller{Session: "other"}).Call(t.Context(), "echo", textArg("[SECRET:aws-key:1]")); res.String() != textArg("[SECRET:aws-key:1]") {
			t.Errorf("got %v", res)
		}
	})
}

func TestKeysUnlooked(t *testing.T) {
	t.Parallel()
	key := someKey(1)
	run := func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		_, _ = fmt.Fprintln(tool.From(ctx).Stdout(), key)
		return sayText(key), nil
	}
	t.Run("G5 what cannot be looked through is withheld", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Policy: allowAll, Guard: &guard.Guard{Keys: unready{}}}
		to := around(t, rt)
		res := keyed(t, rt, tool.MCP, doing(readerTool("read"), run)).Call(t.Context(), "src__read", textArg(key))
		wantFailure(t, res, tool.UnsafeContent, "What the tool returned could not be looked through for keys, so it was withheld.")
		if err := rt.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all := to.all(t); strings.Contains(all, key) {
			t.Errorf("places have %s", all)
		}
	})
	t.Run("G5 a key that characters which nobody sees have split", func(t *testing.T) {
		t.Parallel()
		split := key[:8] + "\u200b" + key[8:]
		rt := &ferrule.Runtime{Policy: allowAll, Guard: &guard.Guard{Keys: awsKeys{}}}
		res := keyed(t, rt, tool.MCP, doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return sayText(split), nil })).Call(t.Context(), "src__read", "{}")
		if text := res.String(); strings.Contains(text, key) || !strings.Contains(text, "[SECRET:aws-key:1]") {
			t.Errorf("got %q", text)
		}
	})
	t.Run("G5 personal data is an option", func(t *testing.T) {
		t.Parallel()
		for _, which := range []redact.Personal{0, redact.Email} {
			rt := &ferrule.Runtime{Policy: allowAll, Guard: &guard.Guard{Personal: which}}
			res := keyed(t, rt, tool.Own, doing(readerTool("read"), func(context.Context, tool.Args) (tool.Result, error) { return sayText("ann@example.org " + key), nil })).Call(t.Context(), "src__read", "{}")
			if want := map[redact.Personal]string{0: "ann@example.org ", redact.Email: "[PERSONAL:email:1] "}[which] + key; res.String() != want {
				t.Errorf("got %q, want %q", res, want)
			}
		}
	})
	t.Run("G5 what goes to a client beside results", func(t *testing.T) {
		t.Parallel()
		rt := &ferrule.Runtime{Guard: &guard.Guard{Keys: awsKeys{}}}
		s := keyed(t, rt, tool.Own)
		if got := s.Scrub([]byte(`{"text":"` + key + `"}`)); string(got) != `{"text":"[SECRET:aws-key:1]"}` {
			t.Errorf("got %s", got)
		}
		plain := []byte("nothing")
		if got := s.Scrub(plain); &got[0] != &plain[0] {
			t.Error("got another slice where there is nothing to take out")
		}
	})
	t.Run("G5 hooks are shown results without keys", func(t *testing.T) {
		t.Parallel()
		var shown []string
		rt := &ferrule.Runtime{Policy: allowAll, Hooks: []ferrule.Hook{{Name: "look", Output: func(_ context.Context, _ *tool.Request, now, was tool.Result) (*tool.Result, error) {
			shown = append(shown, now.String(), was.String())
			return nil, nil //nolint:nilnil // it keeps the result
		}}}}
		keyed(t, rt, tool.Own, doing(readerTool("read"), run)).Call(t.Context(), "src__read", "{}")
		if !slices.Equal(shown, []string{"[SECRET:aws-key:1]", "[SECRET:aws-key:1]"}) {
			t.Errorf("got %q", shown)
		}
	})
}

// A question that another process put does not show the key, and is about it all
// the same.
func TestKeyAskedBefore(t *testing.T) {
	t.Parallel()
	t.Run("G5 an answer to what was shown counts in another process", func(t *testing.T) {
		t.Parallel()
		inbox, key := new(policy.Memory), someKey(1)
		journal := new(durable.MemoryJournal)
		var got bytes.Buffer
		do := func() tool.Result {
			rt := &ferrule.Runtime{Inbox: inbox, Ledger: inbox, Journal: journal}
			s := keyed(t, rt, tool.Own, doing(writerTool("send"), func(_ context.Context, a tool.Args) (tool.Result, error) {
				got.WriteString(textIn(a))
				return sayText("sent"), nil
			}))
			turn := s.View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{Number: 1, HandBack: true})
			turn.Add(tool.Call{ID: "1", Name: "src__send", Input: json.RawMessage(textArg(key))})
			return turn.Wait()[0]
		}
		if res := do(); res.Err == nil || res.Err.Kind != tool.Suspended {
			t.Fatalf("got %v", res)
		}
		asked, err := inbox.Pending(t.Context())
		if err != nil || len(asked) != 1 || strings.Contains(fmt.Sprint(asked), key) {
			t.Fatalf("got %v, %v", asked, err)
		}
		if err := inbox.Answer(t.Context(), asked[0].ID, policy.Answer{Allow: true, By: "ann"}); err != nil {
			t.Fatal(err)
		}
		if res := do(); res.Err != nil || got.String() != key {
			t.Errorf("got %v, the tool %q", res, got.String())
		}
	})
}
