package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// inTheOpen warns of values of a server that look like secrets, and says how they
// are kept elsewhere. It never shows them.
func inTheOpen(s config.Server) (warnings []string) {
	secretName := regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|authorization|cookie|(api|access|private)[-_]?key|_key$|_pat$`)
	warn := func(where, name, value string) {
		bare := strings.TrimSpace(regexp.MustCompile(`(?i)^(bearer|basic|token) `).ReplaceAllString(value, ""))
		switch {
		case strings.Contains(value, "${"), len(bare) < 8, !secretName.MatchString(name) && !looksSecret(bare):
			return
		}
		called := strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Name+"_"+name, "_"))
		filled := strings.Replace(value, bare, "${secret:"+called+"}", 1)
		warnings = append(warnings, fmt.Sprintf(
			"server %s: %s.%s looks like a secret, and stands in the open in %s. Move it: write\n  secrets: {%s: {env: %s}}    # or file, command, keyring: docs/secrets.md\n  %s: {%s: \"%s\"}",
			s.Name, where, name, config.Name, called, strings.ToUpper(called), where, name, filled))
	}
	for _, e := range s.Env {
		name, value, _ := strings.Cut(e, "=")
		warn("env", name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		warn("headers", name, s.Header[name])
	}
	for i, arg := range s.Command {
		if flag, value, ok := strings.Cut(arg, "="); looksSecret(arg) || ok && len(value) >= 8 && secretName.MatchString(flag) && strings.HasPrefix(flag, "-") ||
			i > 0 && len(arg) >= 8 && strings.HasPrefix(s.Command[i-1], "-") && !strings.Contains(s.Command[i-1], "=") && secretName.MatchString(s.Command[i-1]) {
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
