package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/ferrule-dev/ferrule/secret"
)

// hidePassed has secrets among variables that a server is handed on (env_pass) kept
// out of what it says, as those of the configuration are: it may print its environment.
// What is short, or is called and looks like no secret, is not: a region that was
// kept out would make holes in every text.
func hidePassed(v *secret.Vault, passed []string) error {
	for _, e := range passed {
		name, value, _ := strings.Cut(e, "=")
		if !secretName(name) && !looksSecret(value) {
			value = passwordIn(value)
		}
		if len(value) < 8 {
			continue
		}
		if err := v.Hide(strings.ToLower(name), value); err != nil {
			return fmt.Errorf("env_pass: %w", err)
		}
	}
	return nil
}

// passwordIn is the password in an address, such as that of a proxy or a database.
func passwordIn(value string) string {
	if address, err := url.Parse(value); err == nil && address.User != nil {
		password, _ := address.User.Password()
		return password
	}
	return ""
}
