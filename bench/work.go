package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ferrule-dev/ferrule/schema"
	"github.com/ferrule-dev/ferrule/tool"
)

// args is the argument of the floor: six fields of the kinds that tools use.
type args struct {
	Path      string   `json:"path"`
	Pattern   string   `json:"pattern"`
	Limit     int      `json:"limit"`
	Recursive bool     `json:"recursive"`
	Timeout   float64  `json:"timeout"`
	Tags      []string `json:"tags"`
}

// reply is what every work returns: small, as most results are.
type reply struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
	Done  bool   `json:"done"`
}

func call(_ context.Context, in args) (reply, error) {
	return reply{Path: in.Path, Count: in.Limit + len(in.Tags), Done: in.Recursive}, nil
}

const (
	inOrder  = `{"path":"/home/user/project/internal/server.go","pattern":"func .*Handler","limit":100,"recursive":true,"timeout":2.5,"tags":["go","server","http"]}`
	shuffled = `{"tags":["go","server","http"],"timeout":2.5,"limit":100,"path":"/home/user/project/internal/server.go","recursive":true,"pattern":"func .*Handler"}`

	plainSchema = `{"type":"object","properties":{"path":{"type":"string"},"pattern":{"type":"string"},"limit":{"type":"integer"},"recursive":{"type":"boolean"},"timeout":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}}},"required":["path","pattern","limit","recursive","timeout","tags"]}`

	boundedSchema = `{"type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096},"pattern":{"type":"string","maxLength":200},"limit":{"type":"integer","minimum":1,"maximum":1000},"recursive":{"type":"boolean"},"timeout":{"type":"number","exclusiveMinimum":0,"maximum":60},"tags":{"type":"array","maxItems":8,"items":{"enum":["go","server","http","client"]}}},"required":["path","pattern","limit","recursive","timeout","tags"]}`
)

// work is one thing measured against the floor.
type work struct {
	name   string
	ratio  float64 // at most; 0: no bound
	allocs int64   // at most; -1: no bound
	one    func() error
}

func works(ctx context.Context) ([]work, error) {
	plain, err := schema.Compile([]byte(plainSchema), schema.Options{Arguments: true})
	if err != nil {
		return nil, err
	}
	bounded, err := schema.Compile([]byte(boundedSchema), schema.Options{Arguments: true})
	if err != nil {
		return nil, err
	}
	for _, s := range []*schema.Schema{plain, bounded} {
		if !s.Fast() {
			return nil, fmt.Errorf("the one-pass engine does not serve %s", s.Source())
		}
	}
	typed, err := tool.New(tool.Info{Name: "search", Description: "Search files."}, call)
	if err != nil {
		return nil, err
	}
	input := json.RawMessage(inOrder)
	check := func(s *schema.Schema, text string) func() error {
		return func() error { return s.Check(text) }
	}
	return []work{
		{"floor: encoding/json decode + call + encode", 0, -1, func() error { return floor(ctx, input) }},
		{"check, one pass", 0.10, 0, check(plain, inOrder)},
		{"check, shuffled keys", 0.15, 0, check(plain, shuffled)},
		{"check, bounds and enums", 0.15, 0, check(bounded, inOrder)},
		{"check, bounds and enums, shuffled keys", 0.15, 0, check(bounded, shuffled)},
		{"decode + check + encode (Admit, Run)", 0.85, 10, func() error {
			a, err := typed.Admit(input)
			if err != nil {
				return err
			}
			_, err = typed.Run(ctx, a)
			return err
		}},
	}, nil
}

func floor(ctx context.Context, input []byte) error {
	var in args
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	out, err := call(ctx, in)
	if err != nil {
		return err
	}
	_, err = json.Marshal(out)
	return err
}
