package ferrule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tool"
)

// heardOf keeps what calls said while they ran, and when they ended.
type heardOf struct {
	mu   sync.Mutex
	list []string
	slow time.Duration // how long each update takes to look at
	gaps int
}

func (h *heardOf) observe(e audit.Event) {
	switch e.Kind {
	case audit.Updated:
		time.Sleep(h.slow)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.gaps += e.Update.Missed
		h.list = append(h.list, fmt.Sprintf("%s/%s %s", e.Request.CallID, e.Request.Name, updateText(*e.Update)))
	case audit.Ended:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.list = append(h.list, e.Request.CallID+" ended")
	default:
	}
}

func (h *heardOf) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

func updateText(u tool.Update) string {
	switch {
	case u.Progress:
		return fmt.Sprintf("%g of %g %s", u.Current, u.Total, u.Message)
	case u.Content != nil:
		return "content " + u.Content.String()
	}
	return u.Stream + " " + u.Text
}

// streamer is a tool that streams and returns nothing.
func streamer(stream func(*tool.Env)) tool.Tool {
	return doing(readerTool("stream"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
		stream(tool.From(ctx))
		return tool.Result{}, nil
	})
}

// streams is the function of a typed tool that streams and returns this.
func streams[T any](v T) func(context.Context, struct{}) (T, error) {
	return func(ctx context.Context, _ struct{}) (T, error) {
		write(tool.From(ctx), "streamed")
		return v, nil
	}
}

func write(e *tool.Env, text string) { _, _ = e.Stdout().Write([]byte(text)) }

func TestUpdates(t *testing.T) {
	t.Parallel()
	t.Run("B1 text, progress and content reach the observer while the call runs, with its ids, before its end", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := new(heardOf)
			d := streamer(func(e *tool.Env) {
				write(e, "out")
				fmt.Fprint(e.Stderr(), "err")
				e.Progress(1, 3, "a third")
				e.Emit(tool.Content{Type: tool.ImageContent, Data: []byte{1}, MediaType: "image/png"})
				time.Sleep(time.Second)
				if got := len(h.all()); got != 4 {
					t.Errorf("%d updates were heard while it runs, want 4", got)
				}
			})
			callOne(t, &ferrule.Runtime{Observe: h.observe}, d, "{}")
			want := []string{
				"call_1/stream stdout out", "call_1/stream stderr err", "call_1/stream 1 of 3 a third", "call_1/stream content [image:image/png]", "call_1 ended",
			}
			if got := h.all(); !slices.Equal(got, want) {
				t.Errorf("heard %q, want %q", got, want)
			}
		})
	})
	t.Run("B1 a character that is written in halves is heard whole", func(t *testing.T) {
		t.Parallel()
		h := new(heardOf)
		d := streamer(func(e *tool.Env) {
			for i := range len("ab€") {
				write(e, "ab€"[i:i+1])
				fmt.Fprint(e.Stderr(), "ÄÖ"[i%4:i%4+1])
			}
		})
		res := callOne(t, &ferrule.Runtime{Observe: h.observe}, d, "{}")
		for _, text := range h.all() {
			if !utf8.ValidString(text) {
				t.Errorf("heard %q", text)
			}
		}
		if text := res.String(); !utf8.ValidString(text) || !strings.Contains(text, "€") || !strings.Contains(text, "Ä") {
			t.Errorf("result = %q", text)
		}
	})
	t.Run("B1 a slow observer does not hold up the tool, and hears what it missed", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Second / 2}
			const lines, size = 1000, 15_000
			d := streamer(func(e *tool.Env) {
				began := time.Now()
				for i := range lines {
					e.Progress(float64(i), lines, "")
					write(e, fmt.Sprintf("%0*d\n", size-1, i))
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("the tool waited %s", took)
				}
			})
			began := time.Now()
			res := callOne(t, &ferrule.Runtime{Observe: h.observe, Limit: 1}, d, "{}")
			if took := time.Since(began); took != time.Second {
				t.Errorf("the call took %s, want 1 s: so long it waits for who looks", took)
			}
			time.Sleep(time.Hour)
			got := h.all()
			if got[len(got)-1] != "call_1 ended" {
				t.Errorf("the last event = %q, want the end", got[len(got)-1])
			}
			bytes := h.gaps
			for _, text := range got[:len(got)-1] {
				if _, out, ok := strings.Cut(text, "stdout "); ok {
					bytes += len(out)
				}
			}
			if bytes != lines*size || h.gaps == 0 {
				t.Errorf("heard and missed %d bytes, %d of them missed; want %d, some of them missed", bytes, h.gaps, lines*size)
			}
			if !strings.Contains(got[len(got)-2], fmt.Sprint(lines-1)) {
				t.Errorf("the last update = %.40q…, want the last that was sent", got[len(got)-2])
			}
			if !strings.Contains(res.String(), "chars total") {
				t.Errorf("result = %.100q, want what was streamed, cut", res)
			}
		})
	})
	t.Run("B1 text of many small writes waits in few events, and none of it is missed", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Second / 10}
			d := streamer(func(e *tool.Env) {
				for range 5000 {
					write(e, "x\n")
				}
			})
			callOne(t, &ferrule.Runtime{Observe: h.observe}, d, "{}")
			if got := h.all(); len(got) > 4 || h.gaps != 0 || strings.Count(strings.Join(got, ""), "x\n") != 5000 {
				t.Errorf("heard %d events, missed %d bytes", len(got), h.gaps)
			}
		})
	})
	t.Run("B1 a large picture is heard, whatever comes behind it", func(t *testing.T) {
		t.Parallel()
		h := new(heardOf)
		d := streamer(func(e *tool.Env) {
			e.Emit(tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: make([]byte, 3<<20)})
			write(e, "done")
		})
		callOne(t, &ferrule.Runtime{Observe: h.observe}, d, "{}")
		if got := h.all(); len(got) != 3 || h.gaps != 0 {
			t.Errorf("heard %q, missed %d bytes", got, h.gaps)
		}
	})
	t.Run("B1 progress goes before output does", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := &heardOf{slow: time.Second / 2}
			d := streamer(func(e *tool.Env) {
				write(e, "first")
				synctest.Wait() // the observer looks at it
				write(e, "kept")
				for i := range 3000 {
					e.Progress(float64(i), 3000, "")
				}
			})
			callOne(t, &ferrule.Runtime{Observe: h.observe}, d, "{}")
			time.Sleep(time.Hour)
			got := h.all()
			if !slices.Contains(got, "call_1/stream stdout kept") || h.gaps != 0 {
				t.Errorf("output was dropped for progress: %d bytes missed", h.gaps)
			}
			if last := got[len(got)-2]; last != "call_1/stream 2999 of 3000 " || len(got) > 1100 {
				t.Errorf("%d events, the last update %q; want few, and the latest progress", len(got), last)
			}
		})
	})
	t.Run("B1 what is said after the call has ended is not heard", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			h := new(heardOf)
			d := streamer(func(e *tool.Env) {
				go func() {
					time.Sleep(time.Minute)
					write(e, "late")
				}()
			})
			res := callOne(t, &ferrule.Runtime{Observe: h.observe}, d, "{}")
			time.Sleep(time.Hour)
			if got := h.all(); len(got) != 1 || res.String() != "(tool ran successfully with no output)" {
				t.Errorf("heard %q, result %q", got, res)
			}
		})
	})
	t.Run("B1 an observer that stops the turn from within is not waited for in vain", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			d := doing(readerTool("ask"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				write(tool.From(ctx), "I ask")
				return tool.Result{}, &tool.Outcome{Suspend: "May I?"}
			})
			var turn *ferrule.Turn
			h := new(heardOf)
			rt := &ferrule.Runtime{Inbox: new(policy.Memory), Observe: func(e audit.Event) {
				if e.Kind == audit.Updated {
					time.Sleep(time.Minute) // until it waits for a person
					turn.Interrupt()
				}
				h.observe(e)
			}}
			turn = viewWith(t, rt, d).Begin(t.Context(), ferrule.TurnOptions{})
			turn.Add(tool.Call{ID: "call_1", Name: "ask"})
			wantFailure(t, turn.Wait()[0], tool.Aborted, "Aborted: a person interrupted.")
		})
	})
	t.Run("B1 content that a tool streams is its own from then on", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var got []byte
			rt := &ferrule.Runtime{Observe: func(e audit.Event) {
				if e.Kind == audit.Updated {
					time.Sleep(time.Second / 2)
					got = slices.Clone(e.Update.Content.Data)
				}
			}}
			d := streamer(func(e *tool.Env) {
				data := []byte("one")
				e.Emit(tool.Content{Type: tool.ImageContent, MediaType: "image/png", Data: data})
				copy(data, "two")
			})
			res := callOne(t, rt, d, "{}")
			if string(got) != "one" || string(res.Content[0].Data) != "one" {
				t.Errorf("heard %q, returned %q, want what was streamed", got, res.Content[0].Data)
			}
		})
	})
	t.Run("O7 records hold nothing of what a secret tool streams", func(t *testing.T) {
		t.Parallel()
		h, r := new(heardOf), new(recorder)
		d := streamer(func(e *tool.Env) {
			write(e, "hunter2")
			e.Progress(1, 2, "hunter2")
			e.Emit(tool.Text("hunter2"))
		})
		d.OutputSensitivity = tool.Secret
		res := callOne(t, &ferrule.Runtime{Guard: unguarded(), Observe: func(e audit.Event) { h.observe(e); r.observe(e) }}, d, "{}")
		if got := fmt.Sprint(h.all(), r.events); strings.Contains(got, "hunter2") || !strings.Contains(got, "[withheld: secret]") {
			t.Errorf("heard %s", got)
		}
		if !strings.Contains(res.String(), "hunter2") {
			t.Errorf("result = %q", res)
		}
	})
}

func TestStreamed(t *testing.T) {
	t.Parallel()
	image := tool.Content{Type: tool.ImageContent, Data: []byte{1}, MediaType: "image/png"}
	for _, tt := range []struct {
		rule   string
		stream func(*tool.Env)
		res    tool.Result
		err    error
		want   string
	}{
		{"B2 a tool that returns nothing has returned what it streamed", func(e *tool.Env) { write(e, "a"); fmt.Fprint(e.Stderr(), "b"); write(e, "c\n") }, tool.Result{}, nil, "abc\n"},
		{"B2 content keeps its place", func(e *tool.Env) { write(e, "a"); e.Emit(image); write(e, "b") }, tool.Result{}, nil, "a\n[image:image/png]\nb"},
		{"B2 progress is no content", func(e *tool.Env) { e.Progress(1, 2, "half") }, tool.Result{}, nil, "(tool ran successfully with no output)"},
		{"O9 what is returned beats what was streamed", func(e *tool.Env) { write(e, "a") }, sayText("returned"), nil, "returned"},
		{"B2 a tool that fails has its stream beside the error", func(e *tool.Env) { write(e, "a") }, tool.Result{}, errors.New("exit 1"), "exit 1\na"},
		{"B2 up to 8 MiB", func(e *tool.Env) {
			for range 9 {
				write(e, strings.Repeat("€", 1<<20/3))
			}
			write(e, strings.Repeat("x", 1<<20))
		}, tool.Result{}, nil, strings.Repeat("€", 8<<20/3) + "\n[2097145 more bytes were streamed and are not kept]"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			d := doing(readerTool("stream"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				tt.stream(tool.From(ctx))
				return tt.res, tt.err
			})
			d.Limit = tool.Limit{Chars: tool.Unlimited, Tokens: tool.Unlimited}
			if got := callOne(t, &ferrule.Runtime{TurnChars: tool.Unlimited}, d, "{}").String(); got != tt.want {
				t.Errorf("result = %.200q… (%d bytes), want %.200q… (%d bytes)", got, len(got), tt.want, len(tt.want))
			}
		})
	}
	t.Run("B2 a call that timed out has what it streamed until then", func(t *testing.T) {
		t.Parallel()
		for name, wait := range map[string]func(context.Context){"returned": func(ctx context.Context) { <-ctx.Done() }, "given up": func(context.Context) { time.Sleep(time.Hour) }} {
			bubble(t, func(t *testing.T) {
				d := doing(readerTool("stream"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
					write(tool.From(ctx), "so far")
					wait(ctx)
					return tool.Result{}, ctx.Err()
				})
				res := callOne(t, new(ferrule.Runtime), d, "{}")
				if want := "Timed out after 1m0s.\nso far"; kindOf(res) != tool.Timeout || res.String() != want {
					t.Errorf("%s: result = %s %q, want %q", name, kindOf(res), res, want)
				}
			})
		}
	})
	t.Run("B2 a run that a wrapper repeats begins with nothing", func(t *testing.T) {
		t.Parallel()
		d := streamer(func(e *tool.Env) { write(e, "once") })
		twice := ferrule.Hook{Name: "twice", Around: func(ctx context.Context, _ *tool.Request, next ferrule.Next) tool.Result {
			next(ctx)
			return next(ctx)
		}}
		if res := callOne(t, &ferrule.Runtime{Hooks: []ferrule.Hook{twice}}, d, "{}"); res.String() != "once" {
			t.Errorf("result = %q", res)
		}
	})
	t.Run("B2 what was streamed before a question is none of what is streamed after it", func(t *testing.T) {
		t.Parallel()
		d := streamer(func(e *tool.Env) { write(e, "second") })
		run := d.Run
		d.Run = func(ctx context.Context, a tool.Args) (tool.Result, error) {
			if _, ok := tool.From(ctx).Answer(); !ok {
				write(tool.From(ctx), "first ")
				return tool.Result{}, &tool.Outcome{Suspend: "Which?"}
			}
			return run(ctx, a)
		}
		if res := callOne(t, &ferrule.Runtime{Answer: says(policy.Answer{Allow: true, Text: "that"})}, d, "{}"); res.String() != "second" {
			t.Errorf("result = %q, want second", res)
		}
	})
	t.Run("B2 what a validator writes is not the tool's, whether somebody looks or not", func(t *testing.T) {
		t.Parallel()
		for name, observe := range map[string]func(audit.Event){"nobody": nil, "an observer": func(audit.Event) {}} {
			d := streamer(func(e *tool.Env) { write(e, "ok") })
			d.Validate = func(ctx context.Context, _ tool.Args) (json.RawMessage, error) {
				write(tool.From(ctx), "checked \xe2") // and half of a character
				return nil, nil
			}
			if res := callOne(t, &ferrule.Runtime{Observe: observe}, d, "{}"); res.String() != "ok" {
				t.Errorf("%s: result = %q, want ok", name, res)
			}
		}
	})
	t.Run("B2 blocks count for what they hold, whatever their type", func(t *testing.T) {
		t.Parallel()
		uri := "https://" + strings.Repeat("u", 8000)
		res := callOne(t, new(ferrule.Runtime), streamer(func(e *tool.Env) {
			for range 2000 {
				e.Emit(tool.Content{Type: tool.LinkContent, URI: uri})
			}
		}), "{}")
		if n := len(res.Content); n < 1000 || n*len(uri) > 8<<20 || !strings.Contains(res.Content[n-1].Text, "more bytes were streamed and are not kept") {
			t.Errorf("%d links of 8,008 bytes are kept, want 8 MiB of them", n)
		}
	})
	t.Run("B2 a typed tool that returns nothing", func(t *testing.T) {
		t.Parallel()
		info := tool.Info{Name: "typed", Description: "Stream.", Claims: tool.Claims{ReadOnly: true, Local: true}}
		for name, made := range map[string]func() (*tool.Tool, error){
			"text":   func() (*tool.Tool, error) { return tool.New(info, streams("")) },
			"struct": func() (*tool.Tool, error) { return tool.New(info, streams(struct{}{})) },
			"any":    func() (*tool.Tool, error) { return tool.New(info, streams(any(nil))) },
		} {
			d, err := made()
			if err != nil {
				t.Fatal(err)
			}
			rt := new(ferrule.Runtime)
			if err := rt.Add(d); err != nil {
				t.Fatal(err)
			}
			if res := rt.Session(tool.Caller{}).Call(t.Context(), "typed", "{}"); res.String() != "streamed" {
				t.Errorf("%s: result = %q, want what was streamed", name, res)
			}
		}
	})
	t.Run("H5 what a call that was given up has streamed is left out where a hook would see it, or where it is no content", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T) {
			var w tape
			d := doing(readerTool("stuck"), func(ctx context.Context, _ tool.Args) (tool.Result, error) {
				e := tool.From(ctx)
				write(e, "password=hunter2")
				e.Emit(tool.Content{Type: tool.JSONContent, JSON: json.RawMessage(`{"half`)})
				e.Emit(tool.Content{Type: "nonsense", Text: "\xff"})
				time.Sleep(time.Hour)
				return tool.Result{}, nil
			})
			redact := ferrule.Hook{Name: "redact", Output: func(_ context.Context, _ *tool.Request, now, _ tool.Result) (*tool.Result, error) {
				for i := range now.Content {
					now.Content[i].Text = strings.ReplaceAll(now.Content[i].Text, "hunter2", "…")
				}
				return &now, nil
			}}
			for _, hooks := range [][]ferrule.Hook{nil, {redact}} {
				res := callOne(t, &ferrule.Runtime{Record: ferrule.NewRecorder(&w), Hooks: hooks}, d, "{}")
				if kindOf(res) != tool.Timeout || hooks != nil && strings.Contains(res.String(), "hunter2") {
					t.Errorf("result = %s %q, want a time-out, redacted by %d hooks", kindOf(res), res, len(hooks))
				}
				for _, b := range res.Content {
					if b.Type == "nonsense" || b.Type == tool.JSONContent && !json.Valid(b.JSON) || !utf8.ValidString(b.Text) {
						t.Errorf("the model gets %s %q", b.Type, b)
					}
				}
			}
			readReplay(t, w.String())
		})
	})
	t.Run("B2 streamed content is checked like returned content", func(t *testing.T) {
		t.Parallel()
		d := countTool("")
		d.Run = func(ctx context.Context, _ tool.Args) (tool.Result, error) {
			tool.From(ctx).Emit(tool.Content{Type: tool.JSONContent, JSON: []byte(`{"n":"one"}`)})
			return tool.Result{}, nil
		}
		wantFailure(t, callOne(t, new(ferrule.Runtime), d, "{}"), tool.InvalidOutput, "")
	})
}

func TestSilent(t *testing.T) {
	t.Parallel()
	t.Run("T9 who shows calls sees on each event that a tool is silent, and its result all the same", func(t *testing.T) {
		t.Parallel()
		quiet := streamer(func(e *tool.Env) { write(e, "said") })
		quiet.Silent = true
		events, shown := 0, ""
		rt := &ferrule.Runtime{Observe: func(e audit.Event) {
			if e.Request == nil {
				return
			}
			if events++; !e.Request.Tool.Silent {
				t.Errorf("the event %s is not silent", e.Kind)
			}
			if e.Result != nil {
				shown = e.Result.String()
			}
		}}
		if res := callOne(t, rt, quiet, "{}"); res.String() != "said" || shown != "said" || events < 4 {
			t.Errorf("result %q, shown %q in %d events", res, shown, events)
		}
	})
}
