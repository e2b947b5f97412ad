// Command secrets lets a tool use a token that nobody sees: not the model, not the
// observer, though the tool prints it in several ways.
//
//	go run ./examples/secrets
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/tool"
)

type request struct {
	Path string `json:"path" jsonschema:"what to ask for"`
}

func main() {
	if err := os.Setenv("API_TOKEN", "t0ken/of ours"); err != nil { // where it comes from is the operator's business
		log.Fatal(err)
	}
	vault, err := secret.NewVault(map[string]secret.Entry{
		"api_token": {Source: secret.Env("API_TOKEN"), Tools: []string{"fetch"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}, Secrets: vault, Observe: func(e audit.Event) {
		switch e.Kind {
		case audit.Used, audit.Scrubbed, audit.Blocked:
			fmt.Printf("  (%s: %s)\n", e.Kind, e.Text)
		default:
		}
	}}
	fetch, err1 := tool.New(tool.Info{Name: "fetch", Description: "Ask our server for something.", Secrets: []string{"api_token"}}, fetch)
	peek, err2 := tool.New(tool.Info{Name: "peek", Description: "Look at what is not its own.", Secrets: []string{"api_token"}}, fetchNothing)
	if err := errors.Join(err1, err2, rt.Add(fetch, peek)); err != nil {
		log.Fatal(err)
	}
	session := rt.Session(tool.Caller{})
	for _, call := range [][2]string{{"fetch", `{"path":"/ok"}`}, {"fetch", `{"path":"/broken"}`}, {"peek", `{"path":"/"}`}} {
		fmt.Println(call[0], call[1])
		fmt.Println("  the model reads:", session.Call(context.Background(), call[0], call[1]))
	}
}

// fetch talks to a server that says too much.
func fetch(ctx context.Context, in request) (text string, err error) {
	err = tool.From(ctx).Secret(ctx, "api_token", func(token []byte) error {
		if in.Path == "/broken" {
			return fmt.Errorf("GET %s?token=%s: 500", in.Path, url.QueryEscape(string(token)))
		}
		text = fmt.Sprintf("welcome, %s; Basic %s", token, base64.StdEncoding.EncodeToString(append([]byte("user:"), token...)))
		return nil
	})
	return text, err
}

// fetchNothing asks for the token of another tool.
func fetchNothing(ctx context.Context, _ request) (string, error) {
	return "", tool.From(ctx).Secret(ctx, "api_token", func([]byte) error { return nil })
}
