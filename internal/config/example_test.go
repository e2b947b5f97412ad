package config_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/internal/config"
)

func ExampleParse() {
	_, err := config.Parse("ferrule.yaml", "/work", "policy:\n  alow: [\"fs_read*\"]\n  deny: [\"shell(rm\"]\n")
	fmt.Println(err)
	// Output:
	// ferrule.yaml:2:3: policy: unknown key "alow": did you mean "allow"?
	// ferrule.yaml:3:19: policy.deny: got no closing parenthesis, want one
}
