package keyring_test

import (
	"fmt"

	"github.com/ferrule-dev/ferrule/secret"
	"github.com/ferrule-dev/ferrule/secret/keyring"
)

// A vault takes a secret from the keyring as from any other source.
func ExampleNew() {
	vault, err := secret.NewVault(map[string]secret.Entry{
		"github_token": {Source: keyring.New("github", "bot"), Tools: []string{"github__*"}},
	})
	fmt.Println(vault.Names(), err)
	// Output: [github_token] <nil>
}
