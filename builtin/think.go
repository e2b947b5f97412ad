package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

//go:embed texts/think.md
var thinkText string

// Think is the tool think: it returns its thought. What a model writes there is
// part of the conversation, and so of what it reads next.
type Think struct {
	// Name and Description replace the tool's own, where a model is used to
	// others; "": think, and the text that comes with it.
	Name, Description string
}

type thinkInput struct {
	Thought string `json:"thought" jsonschema:"description=the thought"`
}

// Tool makes the tool.
func (t Think) Tool() (*tool.Tool, error) {
	return tool.New(tool.Info{
		Name: cmp.Or(t.Name, "think"), Description: cmp.Or(t.Description, strings.TrimSpace(thinkText)),
		Claims: tool.Claims{ReadOnly: true, Parallel: true, Local: true, Idempotent: true, Touches: []tool.Access{}},
		Silent: true, Repeatable: true, Cancel: true, Cooperative: true, Memory: "pure",
	}, func(_ context.Context, in thinkInput) (string, error) { return in.Thought, nil })
}
