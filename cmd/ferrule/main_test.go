package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

var helper sandbox.Helper

func TestMain(m *testing.M) {
	if os.Getenv(beFerrule) != "" {
		main()
	}
	helper = sandbox.Enter()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(serverDir) // nothing, if none was built
		os.Exit(code)
	}))
}

type noteInput struct {
	Name string `json:"name" jsonschema:"description=the note"`
	Text string `json:"text,omitempty" jsonschema:"description=what to write"`
}

type emptyInput struct{}

// testTools are tools that scripts call beside those of the program: they read and
// write files of a folder, fail, say how far they are, use a secret, and wait for ever.
func testTools(dir string, holds func()) func() []*tool.Tool {
	made := func(t *tool.Tool, err error) *tool.Tool {
		if err != nil {
			panic(err) // in a test
		}
		return t
	}
	at := func(in noteInput, write bool) []tool.Access {
		return []tool.Access{{Resource: "note:" + in.Name, Write: write}}
	}
	return func() []*tool.Tool {
		return []*tool.Tool{
			made(tool.Spec[noteInput, string]{
				Info: tool.Info{Name: "note_read", Description: "Read a note."},
				ClaimsOf: func(in noteInput) tool.Claims {
					return tool.Claims{ReadOnly: true, Local: true, Touches: at(in, false)}
				},
				Run: func(_ context.Context, in noteInput) (string, error) {
					text, err := os.ReadFile(filepath.Join(dir, in.Name))
					if errors.Is(err, os.ErrNotExist) {
						return "", errors.New("there is no note " + in.Name)
					}
					return string(text), err
				},
			}.Tool()),
			made(tool.Spec[noteInput, string]{
				Info: tool.Info{Name: "note_write", Description: "Write a note.", Limit: tool.Limit{Chars: 1000}},
				ClaimsOf: func(in noteInput) tool.Claims {
					return tool.Claims{Reversible: true, Local: true, Touches: at(in, true)}
				},
				Preview: func(_ context.Context, in noteInput) (string, error) { return "write " + in.Name, nil },
				Run: func(_ context.Context, in noteInput) (string, error) {
					return "wrote " + in.Name, os.WriteFile(filepath.Join(dir, in.Name), []byte(in.Text+"\n"), 0o600)
				},
			}.Tool()),
			made(tool.New(tool.Info{Name: "wipe", Description: "Wipe all notes."}, func(context.Context, emptyInput) (string, error) { return "wiped", nil })),
			made(tool.New(tool.Info{Name: "fails", Description: "Fail each time.", Claims: tool.Claims{ReadOnly: true, Local: true}}, func(context.Context, emptyInput) (string, error) {
				return "", &tool.Error{Kind: tool.Failed, Text: "it does not work", Detail: "/etc/secret is not there"}
			})),
			made(tool.New(tool.Info{Name: "says", Description: "Say how far it is.", Claims: tool.Claims{ReadOnly: true, Local: true}}, func(ctx context.Context, _ emptyInput) (string, error) {
				env := tool.From(ctx)
				env.Progress(1, 4, "looking")
				_, _ = env.Stdout().Write([]byte("one\n"))
				_, _ = env.Stderr().Write([]byte("beside\n"))
				return "one\ntwo", nil
			})),
			made(tool.New(tool.Info{Name: "login", Description: "Say the token.", Secrets: []string{"token"}, Claims: tool.Claims{ReadOnly: true, Local: true}}, func(ctx context.Context, _ emptyInput) (text string, err error) {
				err = tool.From(ctx).Secret(ctx, "token", func(value []byte) error { text = "it is " + string(value); return nil })
				return text, err
			})),
			made(tool.New(tool.Info{Name: "hold", Description: "Wait for ever.", Cancel: true, Claims: tool.Claims{ReadOnly: true, Local: true}}, func(ctx context.Context, _ emptyInput) (string, error) {
				if holds != nil {
					holds()
				}
				<-ctx.Done()
				return "", ctx.Err()
			})),
		}
	}
}
