package search_test

import (
	"context"
	"fmt"

	"github.com/ferrule-dev/ferrule/search"
)

func Example() {
	var x search.Index
	ctx := context.Background()
	err := x.Set(ctx, "github",
		search.Document{Name: "create_issue", Description: "Open a new issue in a repository."},
		search.Document{Name: "list_commits", Description: "List the commits of a branch."})
	if err != nil {
		fmt.Println(err)
	}
	answer := x.Search(ctx, search.Query{Text: "opening issues on GitHub", Limit: 1})
	for _, hit := range answer.Hits {
		fmt.Println(hit.Document.Name, "-", hit.Why())
	}
	fmt.Println("serves:", answer.Fit >= search.Fits)
	// Output:
	// create_issue - name: issues; description: opening; source: github
	// serves: true
}
