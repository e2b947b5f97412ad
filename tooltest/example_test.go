package tooltest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// inTest stands for the test that an author writes: func TestGreet(t *testing.T).
type inTest struct{ testing.TB }

func (inTest) Helper()                           {}
func (inTest) Cleanup(func())                    {}
func (inTest) Context() context.Context          { return context.Background() }
func (inTest) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// The test of a tool in one line: schema, rules and questions are passed as they
// are in an agent.
func ExampleDo() {
	type in struct {
		Name string `json:"name" jsonschema:"minLength=1"`
	}
	greet, err := tool.New(tool.Info{Name: "greet", Description: "Greet somebody.", Approval: tool.AskAlways},
		func(_ context.Context, in in) (string, error) { return "Hello, " + in.Name + ".", nil })
	if err != nil {
		panic(err)
	}
	t := inTest{}

	fmt.Println(tooltest.Do(t, greet, `{"name":"Ann"}`))
	fmt.Println(tooltest.Do(t, greet, `{"name":""}`).Err.Kind)
	// Output:
	// Hello, Ann.
	// invalid_input
}

// What the tool asks a person while it runs is answered by the test.
func ExampleDo_answers() {
	remove, err := tool.New(tool.Info{Name: "remove", Description: "Remove everything."},
		func(ctx context.Context, _ struct{}) (string, error) {
			sure, ok := tool.From(ctx).Answer()
			switch {
			case !ok:
				return "", &tool.Outcome{Suspend: "Really everything?"}
			case sure != "yes":
				return "left alone", nil
			}
			return "removed", nil
		})
	if err != nil {
		panic(err)
	}
	t := inTest{}

	fmt.Println(tooltest.Do(t, remove, `{}`, "yes"))
	fmt.Println(tooltest.Do(t, remove, `{}`, "rather not"))
	fmt.Println(tooltest.Do(t, remove, `{}`).Err)
	// Output:
	// removed
	// left alone
	// suspended: no answer was given to "Really everything?"
}

// A tool that claims more than it keeps. A test says Trial.Run(t) instead.
func ExampleTrial() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	type in struct {
		Text string `json:"text"`
	}
	note, err := tool.New(tool.Info{
		Name: "note", Description: "Note a text, once.",
		Claims: tool.Claims{Local: true, Idempotent: true},
	}, func(_ context.Context, in in) (string, error) {
		f, err := os.OpenFile(filepath.Join(dir, "notes.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		_, err = fmt.Fprintln(f, in.Text)
		return "noted", err
	})
	if err != nil {
		panic(err)
	}

	trial := tooltest.Trial{Tool: note, Inputs: []string{`{"text":"milk"}`}, Dir: dir}
	for _, fault := range trial.Faults(context.Background()) {
		fmt.Println(fault)
	}
	// Output:
	// note {"text":"milk"}: claims Idempotent, but a second run changed the directory again: changed notes.txt
}
