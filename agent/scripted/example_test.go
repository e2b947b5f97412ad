package scripted_test

import (
	"context"
	"fmt"

	"github.com/ferrule-dev/ferrule/agent/scripted"
	"github.com/ferrule-dev/ferrule/provider"
)

func Example() {
	script, err := scripted.Parse([]byte(`A note is read.
-- want --
what is in a.txt
-- answer --
I look.
> fs_read {"path":"a.txt"}
-- answer --
It says milk.
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	request := provider.Request{Messages: []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text("Please tell me what is in a.txt.")}}}}
	answer, err := script.Model().Ask(context.Background(), request, nil)
	fmt.Println(answer.Text(), answer.Calls()[0].Name, answer.Stop, err)
	fmt.Println(script.Left())
	// Output:
	// I look. fs_read calls <nil>
	// [script:7: answer 2 was not asked for]
}
