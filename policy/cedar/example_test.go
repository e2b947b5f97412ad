package cedar_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/policy/cedar"
	"github.com/ferrule-dev/ferrule/tool"
)

func Example() {
	rules, err := cedar.New(cedar.Rules{
		Allow: []string{"fs_*", "shell(git status*)"},
		Ask:   []string{"tag:web"},
	}, cedar.File{Name: "team.cedar", Text: `
		@reason("this table is live")
		forbid (principal, action, resource == Tool::"sql")
		when { context.mode == "auto" };`})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range []*tool.Request{
		{Name: "fs_read"},
		{Name: "fetch", Tool: &tool.Info{Tags: []string{"web"}}},
		{Name: "sql", Mode: "auto"},
		{Name: "sql"},
	} {
		d := rules.Decide(q)
		fmt.Printf("%s: %s by %q\n", q.Name, d.Verdict, d.Rule)
	}
	_, err = cedar.New(cedar.Rules{Deny: []string{"shell(git"}}, cedar.File{Name: "team.cedar", Text: "permit (principal);"})
	fmt.Println(err)
	// Output:
	// fs_read: allow by "allow: fs_*"
	// fetch: ask by "ask: tag:web"
	// sql: deny by "deny-1 (team.cedar:2)"
	// sql: silent by ""
	// deny:1:10: got no closing parenthesis, want one
	// team.cedar:1:18: got ")", want ","
}
