package main

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// Where values of a server stand.
const (
	inEnv     = "env"
	inHeaders = "headers"
	inURL     = "url" // in its query
)

// exposed is a value of a server that looks like a secret.
type exposed struct {
	where, name string
	index       int // in env, or in the query
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
	return regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|authorization|cookie|(api|access|private)[-_]?key|_key$|^key$|_pat$`).MatchString(name)
}

// exposedOf are the values of a server that look like secrets.
func exposedOf(s config.Server) (list []exposed) {
	const most = 60 // of the 64 characters of a name, for a number behind it
	look := func(where, name, value string, index int) {
		bare := strings.TrimSpace(regexp.MustCompile(`(?i)^(bearer|basic|token) `).ReplaceAllString(value, ""))
		if where == inURL {
			bare = value
		}
		if strings.Contains(value, "${") || len(bare) < 8 || !secretName(name) && !looksSecret(bare) {
			return
		}
		called := strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Name+"_"+name, "_"))
		list = append(list, exposed{where, name, index, value, bare, called[:min(len(called), most)]})
	}
	for i, pair := range queryOf(s.URL) {
		name, raw, _ := strings.Cut(pair, "=")
		if value, err := url.QueryUnescape(raw); err == nil && plainValue(raw) {
			look(inURL, name, value, i)
		}
	}
	for i, e := range s.Env {
		name, value, _ := strings.Cut(e, "=")
		if len(decidingOf(e)) > 0 { // it is to be seen: PATH may begin like a token, too
			continue
		}
		look(inEnv, name, value, i)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		look(inHeaders, name, s.Header[name], 0)
	}
	return list
}

// queryOf are the pairs in the query of an address.
func queryOf(address string) []string {
	if _, query, ok := strings.Cut(address, "?"); ok {
		return strings.Split(query, "&")
	}
	return nil
}

// withPair is an address with another pair in its query.
func withPair(address string, index int, pair string) string {
	pairs := queryOf(address)
	pairs[index] = pair
	bare, _, _ := strings.Cut(address, "?")
	return bare + "?" + strings.Join(pairs, "&")
}

// inAddress reports whether an address has what looks like a secret where no name
// of one can stand in its place: in its path, or in a form that would not come back.
func inAddress(address string) bool {
	bare, _, _ := strings.Cut(address, "?")
	if slices.ContainsFunc(strings.Split(bare, "/"), looksSecret) {
		return true
	}
	return slices.ContainsFunc(queryOf(address), func(pair string) bool {
		name, raw, _ := strings.Cut(pair, "=")
		return !plainValue(raw) && !strings.Contains(raw, "${") && len(raw) >= 8 && (secretName(name) || looksSecret(raw))
	})
}

// plainValue reports whether a value of a query is the same after it was read and
// written again.
func plainValue(raw string) bool {
	value, err := url.QueryUnescape(raw)
	return err == nil && url.QueryEscape(value) == raw
}

// inTheOpen warns of values of a server that look like secrets, and says how they
// are kept elsewhere. It never shows them.
func inTheOpen(s config.Server) (warnings []string) {
	for _, e := range exposedOf(s) {
		line := fmt.Sprintf(`%s: {%s: "%s"}`, e.where, e.name, e.filled())
		if e.where == inURL {
			line = fmt.Sprintf(`url: "…?%s=%s"`, e.name, e.filled())
		}
		warnings = append(warnings, fmt.Sprintf(
			"server %s: %s.%s looks like a secret, and stands in the open in %s. Move it: write\n  secrets: {%s: {env: %s}}    # or file, command, keyring: docs/secrets.md\n  %s",
			s.Name, e.where, e.name, config.Name, e.called, strings.ToUpper(e.called), line))
	}
	if inAddress(s.URL) {
		warnings = append(warnings, fmt.Sprintf("server %s: a part of its url looks like a secret, and stands in the open in %s. Give it as a header, or in the query, if the server takes it there", s.Name, config.Name))
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
