package tokens_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/tokens"
)

func ExampleCounter() {
	c, err := tokens.New("o200k_base")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Count("The quick brown fox jumps over the lazy dog."))

	_, err = tokens.New("gpt2")
	fmt.Println(err)
	// Output:
	// 10
	// tokens: encoding: got "gpt2", want o200k_base or cl100k_base
}
