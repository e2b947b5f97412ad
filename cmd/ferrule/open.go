package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// Where values of a server stand.
const (
	inEnv     = "env"
	inHeaders = "headers"
)

// exposed is a value of a server that looks like a secret.
type exposed struct {
	where, name string
	index       int // in env
	value       string
	bare        string // the secret alone, without the word Bearer in front
	called      string // a name for it
}

// filled is the value with the name in the place of the secret.
func (e *exposed) filled() string {
	return strings.Replace(e.value, e.bare, "${secret:"+e.called+"}", 1)
}

// secretName is what variables, headers and flags with secrets are called.
func secretName(name string) bool {
	return regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|authorization|cookie|(api|access|private)[-_]?key|_key$|_pat$`).MatchString(name)
}

// exposedOf are the values of a server that look like secrets.
func exposedOf(s config.Server) (list []exposed) {
	const most = 60 // of the 64 characters of a name, for a number behind it
	look := func(where, name, value string, index int) {
		bare := strings.TrimSpace(regexp.MustCompile(`(?i)^(bearer|basic|token) `).ReplaceAllString(value, ""))
		if strings.Contains(value, "${") || len(bare) < 8 || !secretName(name) && !looksSecret(bare) {
			return
		}
		called := strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Name+"_"+name, "_"))
		list = append(list, exposed{where, name, index, value, bare, called[:min(len(called), most)]})
	}
	for i, e := range s.Env {
		name, value, _ := strings.Cut(e, "=")
		look(inEnv, name, value, i)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		look(inHeaders, name, s.Header[name], 0)
	}
	return list
}

// inTheOpen warns of values of a server that look like secrets, and says how they
// are kept elsewhere. It never shows them.
func inTheOpen(s config.Server) (warnings []string) {
	for _, e := range exposedOf(s) {
		warnings = append(warnings, fmt.Sprintf(
			"server %s: %s.%s looks like a secret, and stands in the open in %s. Move it: write\n  secrets: {%s: {env: %s}}    # or file, command, keyring: docs/secrets.md\n  %s: {%s: \"%s\"}",
			s.Name, e.where, e.name, config.Name, e.called, strings.ToUpper(e.called), e.where, e.name, e.filled()))
	}
	for i, arg := range s.Command {
		if flag, value, ok := strings.Cut(arg, "="); looksSecret(arg) || ok && len(value) >= 8 && secretName(flag) && strings.HasPrefix(flag, "-") ||
			i > 0 && len(arg) >= 8 && strings.HasPrefix(s.Command[i-1], "-") && !strings.Contains(s.Command[i-1], "=") && secretName(s.Command[i-1]) {
			warnings = append(warnings, fmt.Sprintf("server %s: one of args looks like a secret: every user of this machine can see the arguments of a program. Give it as a variable in env if the server takes one", s.Name))
			break
		}
	}
	return warnings
}

// looksSecret reports whether a text has the form of a well-known kind of token.
func looksSecret(text string) bool {
	return regexp.MustCompile(`^(sk-|pk_live|sk_live|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abps]-|AKIA|AIza|eyJ[A-Za-z0-9_-]+\.eyJ|ya29\.|npm_|hf_|lin_api_|ntn_|secret_)[A-Za-z0-9._=-]{8,}`).MatchString(text)
}
