package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

//go:embed texts/ask_user.md
var askText string

// AskUser is the tool ask_user: it puts a question to a person and returns the
// answer. The call waits in the inbox like one that needs a yes, also over a
// restart; where nobody is there (see tool.Caller.Attended) it fails at once.
type AskUser struct {
	// Name and Description replace the tool's own; "": ask_user, and the text that
	// comes with it.
	Name, Description string
}

type askInput struct {
	Question string   `json:"question" jsonschema:"description=the question,minLength=1"`
	Choices  []string `json:"choices,omitempty" jsonschema:"description=answers to choose from,maxItems=20"`
}

// Tool makes the tool.
func (a AskUser) Tool() (*tool.Tool, error) {
	return tool.Spec[askInput, string]{
		Info: tool.Info{
			Name: cmp.Or(a.Name, "ask_user"), Description: cmp.Or(a.Description, strings.TrimSpace(askText)),
			// It changes nothing and touches nothing: several questions of a turn are
			// shown together, and nobody is asked whether one may be asked.
			Claims:    tool.Claims{ReadOnly: true, Parallel: true, Local: true, Touches: []tool.Access{}},
			NeedsUser: true, Repeatable: true, Cancel: true, Cooperative: true, Memory: "pure",
		},
		Preview: func(_ context.Context, in askInput) (string, error) { return in.wants(), nil },
		Run: func(ctx context.Context, in askInput) (string, error) {
			answer, ok := tool.From(ctx).Answer()
			if !ok {
				return "", &tool.Outcome{Suspend: in.wants()}
			}
			if answer = strings.TrimSpace(answer); answer == "" {
				return "", errors.New("the person gave no answer: go on without one, or ask in other words")
			}
			return in.chosen(answer), nil
		},
	}.Tool()
}

// wants is what the person reads.
func (in askInput) wants() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(in.Question))
	for i, c := range in.Choices {
		fmt.Fprintf(&b, "\n%d. %s", i+1, c)
	}
	return b.String()
}

// chosen is the choice that a number stands for, unless a choice is that number;
// else what the person wrote.
func (in askInput) chosen(answer string) string {
	n, err := strconv.Atoi(strings.TrimSuffix(answer, "."))
	if err != nil || n < 1 || n > len(in.Choices) || slices.Contains(in.Choices, answer) {
		return answer
	}
	return in.Choices[n-1]
}
