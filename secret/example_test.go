package secret_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ferrule-dev/ferrule/secret"
)

// A tool uses a secret inside a function; what it says afterwards is scrubbed.
func ExampleVault() {
	_ = os.Setenv("EXAMPLE_TOKEN", "s3cr3t-t0ken")
	vault, err := secret.NewVault(map[string]secret.Entry{
		"token": {Source: secret.Env("EXAMPLE_TOKEN"), Tools: []string{"github__*"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	names := []string{"token"} // those that the tool says it uses
	var said string
	err = vault.Use(context.Background(), "github__push", names, "token", func(value []byte) error {
		said = fmt.Sprintf("POST /push?token=%s: 403", value)
		return nil
	})
	fmt.Println(vault.Scrub(said))
	fmt.Println(err)
	fmt.Println(vault.Use(context.Background(), "shell", names, "token", func([]byte) error { return nil }))
	// Output:
	// POST /push?token=[secret token]: 403 [token]
	// <nil>
	// secret token: refused: it is not for the tool shell
}

// Pieces of a stream are passed on at once, but for what may be the beginning of
// a value.
func ExampleStream() {
	vault, _ := secret.NewVault(map[string]secret.Entry{"token": {Source: constant("s3cr3t-t0ken"), Tools: []string{"*"}}})
	_ = vault.Use(context.Background(), "any", []string{"token"}, "token", func([]byte) error { return nil })
	s := vault.Stream()
	for _, piece := range []string{"the token is s3c", "r3t-t0", "ken, they say"} {
		fmt.Printf("%q\n", s.Write(piece))
	}
	fmt.Printf("%q %s\n", s.Flush(), s.Found())
	// Output:
	// "the token is "
	// ""
	// "[secret token], they say"
	// "" [token]
}

type constant string

func (c constant) Value(context.Context) (secret.Value, error) {
	return secret.NewValue([]byte(c)), nil
}
func (constant) String() string { return "constant" }
