package ferrule_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

const someToken = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// using is a tool that uses the secret s0 and then does what say does.
func using(say func(ctx context.Context, value string) (tool.Result, error)) tool.Tool {
	d := readerTool("push")
	d.Secrets = []string{"s0", "s9"}
	d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		var value string
		if err := tool.From(ctx).Secret(ctx, "s0", func(b []byte) error { value = string(b); return nil }); err != nil {
			return tool.Result{}, err
		}
		return say(ctx, value)
	}
	return d
}

func TestUseSecret(t *testing.T) {
	t.Parallel()
	only, err := secret.NewVault(map[string]secret.Entry{"s0": {Source: madeUpValue(someToken), Tools: []string{"pull*"}}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name string) func(context.Context, tool.Args) (tool.Result, error) {
		return func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			return sayText("ok"), tool.From(ctx).Secret(ctx, name, func([]byte) error { return nil })
		}
	}
	named := readerTool("push")
	named.Secrets = []string{"s0", "s9"}
	for _, tt := range []struct {
		rule  string
		vault *secret.Vault
		def   tool.Tool
		want  string // events about secrets
	}{
		{"K1 a tool uses what it names", vaultOf(t, someToken), doing(named, ask("s0")), "used push: s0"},
		{"K1 what a tool does not name is refused", vaultOf(t, someToken), doing(readerTool("push"), ask("s0")), "blocked push by secrets: secret s0: refused: the tool push does not name it among the secrets that it uses"},
		{"K1 what is for other tools is refused", only, doing(named, ask("s0")), "blocked push by secrets: secret s0: refused: it is not for the tool push"},
		{"K1 what is not there is refused", vaultOf(t, someToken), doing(named, ask("s9")), "blocked push by secrets: secret s9: there is none of that name here"},
		{"K1 without a vault every secret is refused", nil, doing(named, ask("s0")), "blocked push by secrets: secret s0: refused: Runtime.Secrets is not set"},
		{"K3 what could not be kept out of results is refused", vaultOf(t, "abc"), doing(named, ask("s0")), "blocked push by secrets: secret s0: made up: got 3 bytes, want 4 or more: it could not be kept out of results"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			var seen []string
			rt := &ferrule.Runtime{Secrets: tt.vault, Observe: func(e audit.Event) {
				switch e.Kind {
				case audit.Used:
					seen = append(seen, fmt.Sprintf("%s %s: %s", e.Kind, e.Name, e.Text))
				case audit.Blocked:
					seen = append(seen, fmt.Sprintf("%s %s by %s: %s", e.Kind, e.Name, e.By, e.Text))
				default:
				}
			}}
			res := callOne(t, rt, tt.def, "")
			if got := strings.Join(seen, "\n"); got != tt.want {
				t.Errorf("events: %s\nwant %s", got, tt.want)
			}
			if refused := strings.HasPrefix(tt.want, "blocked"); refused {
				wantFailure(t, res, tool.Failed, "The tool could not have a secret that it needs.")
			} else if res.Err != nil {
				t.Errorf("got %v", res.Err)
			}
		})
	}
	t.Run("K1 only Run is given secrets", func(t *testing.T) {
		t.Parallel()
		d := named
		var errs []error
		try := func(ctx context.Context) {
			errs = append(errs, tool.From(ctx).Secret(ctx, "s0", func([]byte) error { return nil }))
		}
		d.Validate = func(ctx context.Context, _ tool.Args) (json.RawMessage, error) { try(ctx); return nil, nil }
		d.Permit = func(ctx context.Context, _ tool.Args) (tool.Decision, error) {
			try(ctx)
			return tool.Decision{Verdict: tool.Silent}, nil
		}
		if res := callOne(t, &ferrule.Runtime{Secrets: vaultOf(t, someToken)}, d, ""); res.Err != nil || len(errs) != 2 {
			t.Fatalf("got %v, %v", res, errs)
		}
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "only while the tool runs") {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("K1 nothing is given out after the call is over", func(t *testing.T) {
		t.Parallel()
		var env *tool.Env
		d := doing(named, func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			env = tool.From(ctx)
			return sayText("ok"), nil
		})
		callOne(t, &ferrule.Runtime{Secrets: vaultOf(t, someToken)}, d, "")
		if err := env.Secret(t.Context(), "s0", func([]byte) error { t.Error("it was"); return nil }); err == nil {
			t.Error("got no error")
		}
	})
	t.Run("L5 the model does not read where a secret is kept", func(t *testing.T) {
		t.Parallel()
		v, err := secret.NewVault(map[string]secret.Entry{"s0": {Source: secret.File("/nowhere/at/all"), Tools: []string{"*"}}})
		if err != nil {
			t.Fatal(err)
		}
		res := callOne(t, &ferrule.Runtime{Secrets: v}, doing(named, ask("s0")), "")
		if strings.Contains(res.String(), "nowhere") || !strings.Contains(res.Err.Detail, "/nowhere/at/all") {
			t.Errorf("the model reads %s, the operator %s", res, res.Err.Detail)
		}
	})
}

// marked is an error that can be told from others, and in its text is a value.
type marked struct{ value string }

func (m *marked) Error() string { return "no access with " + m.value }

func TestScrubbedResults(t *testing.T) {
	t.Parallel()
	b64 := base64.StdEncoding.EncodeToString
	for _, tt := range []struct {
		rule string
		say  func(ctx context.Context, value string) (tool.Result, error)
		want string // what the model reads
	}{
		{"K3 a text", func(_ context.Context, v string) (tool.Result, error) { return sayText("a " + v), nil }, "a [secret s0]"},
		{"K3 JSON", func(_ context.Context, v string) (tool.Result, error) { return sayJSON(`{"a":"` + v + `"}`), nil }, `{"a":"[secret s0]"}`},
		{"K3 a link", func(_ context.Context, v string) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{{Type: tool.LinkContent, URI: "https://x/?t=" + v, Name: v, Text: v}}}, nil
		}, "[link:https://x/?t=[secrets0]"},
		{"K3 an image is withheld", func(_ context.Context, v string) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{{Type: tool.ImageContent, MediaType: "image/png", Data: []byte("png" + b64([]byte(v)))}}}, nil
		}, "[image withheld: it held s0]"},
		{"K3 an error", func(_ context.Context, v string) (tool.Result, error) { return tool.Result{}, errors.New("no: " + v) }, "no: [secret s0]"},
		{"K3 a panic", func(_ context.Context, v string) (tool.Result, error) { panic(v) }, "The tool failed unexpectedly."},
		{"K3 what was streamed, in pieces", func(ctx context.Context, v string) (tool.Result, error) {
			for _, c := range v + " and" {
				fmt.Fprint(tool.From(ctx).Stdout(), string(c))
			}
			return tool.Result{}, nil
		}, "[secret s0] and"},
		{"K3 what was streamed and began like a value", func(ctx context.Context, v string) (tool.Result, error) {
			_, _ = io.WriteString(tool.From(ctx).Stderr(), "x "+v[:4])
			return tool.Result{}, nil
		}, "x ghp_"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			res := callOne(t, &ferrule.Runtime{Secrets: vaultOf(t, someToken)}, using(tt.say), "")
			if res.String() != tt.want {
				t.Errorf("the model reads %q, want %q", res, tt.want)
			}
			if text, _ := json.Marshal(res); strings.Contains(string(text), someToken) {
				t.Errorf("it is in %s", text)
			}
		})
	}
	t.Run("K3 the cause of an error tells what it was, not the value", func(t *testing.T) {
		t.Parallel()
		own := errors.New("own")
		res := callOne(t, &ferrule.Runtime{Secrets: vaultOf(t, someToken)}, using(func(_ context.Context, v string) (tool.Result, error) {
			return tool.Result{}, &tool.Outcome{Fatal: true, Err: fmt.Errorf("hidden: %w", errors.Join(own, &marked{v}))}
		}), "")
		o, m := (*tool.Outcome)(nil), (*marked)(nil)
		if !errors.Is(res.Err, own) || !errors.As(res.Err, &o) || !o.Fatal || errors.As(res.Err, &m) {
			t.Errorf("got %v: own %v, fatal %v, marked %v", res.Err, errors.Is(res.Err, own), o, m)
		}
		if text := fmt.Sprintf("%v %+v %#v %v", res.Err, res.Err.Cause, res.Err.Cause, o.Err); strings.Contains(text, someToken) {
			t.Errorf("it is in %s", text)
		}
	})
	t.Run("K3 a cause without a value stays what it is", func(t *testing.T) {
		t.Parallel()
		res := callOne(t, &ferrule.Runtime{Secrets: vaultOf(t, someToken)}, using(func(context.Context, string) (tool.Result, error) { return tool.Result{}, &marked{"none"} }), "")
		if m := (*marked)(nil); !errors.As(res.Err, &m) {
			t.Errorf("got %v", res.Err)
		}
	})
	t.Run("K3 output hooks do not see it, what they return is scrubbed, and one event tells", func(t *testing.T) {
		t.Parallel()
		var seen, told []string
		rt := &ferrule.Runtime{Secrets: vaultOf(t, someToken), Hooks: []ferrule.Hook{outputHook(func(now, original tool.Result) (*tool.Result, error) {
			seen = append(seen, now.String(), original.String())
			return new(sayText("hook: " + someToken)), nil
		})}, Observe: func(e audit.Event) {
			if e.Kind == audit.Scrubbed {
				told = append(told, e.Text)
			}
		}}
		res := callOne(t, rt, using(func(ctx context.Context, v string) (tool.Result, error) {
			tool.From(ctx).Progress(1, 2, v)
			return sayText(v), nil
		}), "")
		if strings.Join(seen, " ") != "[secret s0] [secret s0]" || res.String() != "hook: [secret s0]" || strings.Join(told, ";") != "s0" {
			t.Errorf("hooks saw %q, the model reads %q, events %q", seen, res, told)
		}
	})
	t.Run("K3 arguments with a value are not recorded", func(t *testing.T) {
		t.Parallel()
		var file bytes.Buffer
		rt := &ferrule.Runtime{Secrets: liveVault(t, someToken), Record: ferrule.NewRecorder(&file)}
		callOne(t, rt, readerTool("read"), textArg(someToken))
		if strings.Contains(file.String(), someToken) || !strings.Contains(file.String(), `"withheld":true`) {
			t.Errorf("recorded %s", file.String())
		}
	})
	t.Run("K3 what a tool asks a person", func(t *testing.T) {
		t.Parallel()
		var asked string
		rt := &ferrule.Runtime{Secrets: vaultOf(t, someToken), Answer: func(_ context.Context, q policy.Question) (policy.Answer, error) {
			asked = q.Wants
			return policy.Answer{Allow: true, Text: "yes"}, nil
		}}
		res := callOne(t, rt, using(func(ctx context.Context, v string) (tool.Result, error) {
			if _, ok := tool.From(ctx).Answer(); ok {
				return sayText("done"), nil
			}
			return tool.Result{}, &tool.Outcome{Suspend: "use " + v + "?"}
		}), "")
		if asked != "use [secret s0]?" || res.String() != "done" {
			t.Errorf("asked %q, got %v", asked, res)
		}
	})
	t.Run("K3 what a call that was given up returns at last", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var late []tool.Result
			rt := &ferrule.Runtime{Secrets: vaultOf(t, someToken), Observe: func(e audit.Event) {
				if e.Kind == audit.Late {
					late = append(late, *e.Result)
				}
			}}
			d := using(func(_ context.Context, v string) (tool.Result, error) {
				time.Sleep(time.Minute)
				return sayText(v), errors.New(v)
			})
			d.Timeout = time.Second
			callOne(t, rt, d, "")
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if len(late) != 1 || strings.Contains(fmt.Sprint(late[0], late[0].Err), someToken) || !strings.Contains(fmt.Sprint(late[0]), "[secret s0]") {
				t.Errorf("got %v", late)
			}
		})
	})
}

func TestSecretInAQuestion(t *testing.T) {
	t.Parallel()
	t.Run("K3 arguments that hold a value are shown to nobody: the call is denied, and no inbox keeps them", func(t *testing.T) {
		inbox := new(policy.Memory)
		use := using(func(context.Context, string) (tool.Result, error) { return sayText("ok"), nil })
		asks, runs := counted(writerTool("send"))
		asks.Approval = tool.AskAlways
		v := viewWith(t, &ferrule.Runtime{Secrets: vaultOf(t, someToken), Inbox: inbox}, use, asks)
		v.Do(t.Context(), tool.Call{Name: "push", Input: json.RawMessage(`{}`)})
		res := v.Do(t.Context(), tool.Call{Name: "send", Input: json.RawMessage(textArg(someToken))})[0]
		if kindOf(res) != tool.Denied || runs.Load() != 0 || strings.Contains(fmt.Sprintf("%+v", res.Err), someToken) {
			t.Errorf("got %v, ran %d times", res.Err, runs.Load())
		}
		if open, err := inbox.Pending(t.Context()); err != nil || len(open) != 0 {
			t.Errorf("got %d questions, %v", len(open), err)
		}
	})
}
