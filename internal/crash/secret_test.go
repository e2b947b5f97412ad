package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/store"
	"github.com/ferrule-dev/ferrule/tool"
)

// constant is a source of one value.
type constant string

func (c constant) Value(context.Context) (secret.Value, error) {
	return secret.NewValue([]byte(c)), nil
}

func (constant) String() string { return "a constant" }

// someSecret is a value of one of the alphabets that keys are written in.
func someSecret() string {
	alphabets := []string{
		"0123456789abcdef",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
		"abcXYZ019 \"\\/&<>%+=?#'`$\t",
		"aäöß€🔑ž\"\\",
	}
	letters := []rune(alphabets[rand.IntN(len(alphabets))])
	var b strings.Builder
	for range 12 + rand.IntN(40) {
		b.WriteRune(letters[rand.IntN(len(letters))])
	}
	return b.String()
}

// gossips are tools that use a secret and say it, each in its own way.
func gossips(value string) map[string]func(context.Context) (tool.Result, error) {
	text := printed(value)
	return map[string]func(context.Context) (tool.Result, error){
		"text": func(context.Context) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text(text), tool.Text("again " + value)}}, nil
		},
		"json": func(context.Context) (tool.Result, error) {
			inner, err := json.Marshal(map[string]any{"key": value, "list": []string{value}, value: 1})
			if err != nil {
				return tool.Result{}, err
			}
			outer, err := json.Marshal(map[string]any{"body": string(inner), "raw": json.RawMessage(inner), "text": strings.Split(text, "JSON")[0]})
			return tool.Result{Content: []tool.Content{{Type: tool.JSONContent, JSON: outer}}}, err
		},
		"blocks": func(context.Context) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{
				{Type: tool.LinkContent, URI: "https://example.com/?key=" + value, Name: value, Text: value, MediaType: "text/" + value},
				{Type: tool.ImageContent, Data: []byte("pixels " + value + " pixels"), MediaType: "image/png", Name: value},
			}}, nil
		},
		"long": func(context.Context) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text(strings.Repeat("much to read\n", 9000) + text + strings.Repeat("and more\n", 9000))}}, nil
		},
		"stream": func(ctx context.Context) (tool.Result, error) {
			env := tool.From(ctx)
			for rest := text; rest != ""; {
				n := min(1+rand.IntN(20), len(rest))
				if _, err := env.Stdout().Write([]byte(rest[:n])); err != nil {
					return tool.Result{}, err
				}
				rest = rest[n:]
			}
			env.Progress(1, 2, value)
			env.Emit(tool.Text(text))
			return tool.Result{}, nil
		},
		"error": func(context.Context) (tool.Result, error) { return tool.Result{}, errors.New(text) },
		"detail": func(context.Context) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Kind: tool.Failed, Text: "no: " + value, Detail: text, Cause: errors.New(value)}
		},
		"panic": func(context.Context) (tool.Result, error) { panic(text) },
		"asks": func(ctx context.Context) (tool.Result, error) {
			if answer, ok := tool.From(ctx).Answer(); ok {
				return tool.Result{Content: []tool.Content{tool.Text(answer + value)}}, nil
			}
			return tool.Result{}, &tool.Outcome{Suspend: "Is this right? " + text}
		},
	}
}

// A tool uses a secret and says it in every form, with all that can be kept being
// kept. Neither what leaves nor any file of the state directory has it.
func TestSecretsInFiles(t *testing.T) {
	t.Parallel()
	for n := range 1 + *rounds/2 {
		t.Run(fmt.Sprint("K3 a secret that is said in every form is in no file and no result ", n), func(t *testing.T) {
			t.Parallel()
			value := someSecret()
			g := newGossip(t, value, tool.AskAlways)
			for name := range gossips(value) {
				g.do(t, name, "{}")
			}
			g.search(t, value)
		})
	}
	// Who is asked is shown the exact arguments, so nobody is.
	t.Run("K3 a secret that the model says back is in no file", func(t *testing.T) {
		t.Parallel()
		value := someSecret()
		g := newGossip(t, value, tool.AskNever)
		g.do(t, "text", "{}")
		forms := disguises(value)
		back, err := json.Marshal(map[string]string{"note": strings.Join([]string{"key=" + value, forms["JSON 1"], forms["hex"], forms["in a query"], forms["base64 at 0"]}, " ")})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"text", "long", "error", "unheard"} {
			g.do(t, name, string(back))
		}
		g.search(t, value)
	})
}

// gossip is a runtime that keeps everything in one directory, and all that has
// left it.
type gossip struct {
	*world
	dir string

	mu   sync.Mutex
	left bytes.Buffer
}

func newGossip(t *testing.T, value string, approval tool.Approval) *gossip {
	t.Helper()
	g := &gossip{dir: t.TempDir()}
	s, err := store.Open(t.Context(), filepath.Join(g.dir, storeFile))
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := s.Blobs(filepath.Join(g.dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secret.NewVault(map[string]secret.Entry{"key": {Source: constant(value), Tools: []string{"*"}}})
	if err != nil {
		t.Fatal(err)
	}
	g.world = &world{s, runtimeOn(s)}
	rt := g.runtime
	rt.Blobs, rt.Secrets = blobs, vault
	rt.Observe = func(e audit.Event) { g.leave(e) }
	rt.Answer = func(_ context.Context, q policy.Question) (policy.Answer, error) {
		g.leave(q)
		return policy.Answer{Allow: true, Text: "Yes.", By: "ada"}, nil
	}
	for name, say := range gossips(value) {
		made, err := tool.Tool{
			Info: tool.Info{
				Name: name, Description: "Use a secret and say it.", Secrets: []string{"key"}, Approval: approval,
				Input: json.RawMessage(`{"type":"object","properties":{"note":{"type":"string"}}}`),
			},
			Run: func(ctx context.Context, _ tool.Args) (res tool.Result, err error) {
				useErr := tool.From(ctx).Secret(ctx, "key", func(got []byte) error {
					if string(got) != value {
						return fmt.Errorf("got %q", got)
					}
					res, err = say(ctx)
					return nil
				})
				if useErr != nil {
					t.Errorf("%s: %v", name, useErr)
				}
				return res, err
			},
		}.Check()
		if err == nil {
			err = rt.Add(made)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = g.close(context.Background()); _ = blobs.Close() })
	return g
}

// leave notes what left.
func (g *gossip) leave(v any) {
	text, err := json.Marshal(v)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left.Write(text)
	fmt.Fprintf(&g.left, "\n%v\n%+v\n", v, err)
}

func (g *gossip) do(t *testing.T, name, input string) {
	t.Helper()
	turn := g.runtime.Session(session()).View(t.Context()).Begin(t.Context(), ferrule.TurnOptions{})
	turn.Add(tool.Call{ID: "call", Name: name, Input: json.RawMessage(input)})
	for _, res := range turn.Wait() {
		g.leave(res)
		if res.Err != nil {
			g.leave(res.Err.Error())
			g.leave(fmt.Sprint(res.Err.Cause))
		}
		g.leave(res.String())
	}
}

// search wants a value to be nowhere, while the store is open and after it was
// closed.
func (g *gossip) search(t *testing.T, value string) {
	t.Helper()
	g.mu.Lock()
	left := g.left.String()
	g.mu.Unlock()
	for form, is := range disguises(value) {
		if at := strings.Index(left, is); at >= 0 {
			t.Errorf("%q left %s: %q", value, form, left[max(0, at-80):min(len(left), at+len(is)+20)])
		}
	}
	if !strings.Contains(left, "[secret key]") {
		t.Error("nothing was scrubbed")
	}
	open := found(t, g.dir, value)
	if err := g.close(t.Context()); err != nil {
		t.Error(err)
	}
	open = append(open, found(t, g.dir, value)...)
	slices.Sort(open)
	for _, in := range slices.Compact(open) {
		t.Errorf("%q is in %s", value, in)
	}
}
