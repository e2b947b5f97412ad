package config

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/secret"
)

// reference is ${NAME}, ${NAME:-other} or ${secret:NAME} in a value. Anything else
// that begins so is a fault.
var reference = regexp.MustCompile(`\$\{([^{}]*)\}?`)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// fill puts in the place of each reference what of gives for it.
func fill(text string, of func(kind, name, other string) (string, error)) (string, error) {
	var first error
	filled := reference.ReplaceAllStringFunc(text, func(found string) string {
		inside, closed := strings.CutSuffix(strings.TrimPrefix(found, "${"), "}")
		kind, name, other := "env", inside, ""
		if rest, ok := strings.CutPrefix(inside, "secret:"); ok {
			kind, name = "secret", rest
		} else if before, after, ok := strings.Cut(inside, ":-"); ok {
			kind, name, other = "default", before, after
		}
		wrong := !closed || kind != "secret" && !variable.MatchString(name) || kind == "secret" && secret.CheckName(name) != nil
		var value string
		var err error
		if wrong {
			err = fmt.Errorf("got %q, want ${NAME}, a variable, or ${secret:NAME}, one of secrets", found)
		} else {
			value, err = of(kind, name, other)
		}
		if err != nil && first == nil {
			first = err
		}
		return value
	})
	if first != nil {
		return "", first
	}
	return filled, nil
}

// filled reads a text with references. Secrets that it names must be there.
func (r *reader) filled(n *yaml.Node, what string) (string, bool) {
	text, ok := r.text(n, what)
	if !ok {
		return "", false
	}
	if strings.ContainsAny(text, "\x00\r\n") {
		r.fault(n, "%s: got a text of several lines, want one", what)
		return "", false
	}
	return text, r.references(n, what, text)
}

// references notes the secrets that a text names, and reports whether all of its
// references are some.
func (r *reader) references(n *yaml.Node, what, text string) bool {
	_, err := fill(text, func(kind, name, _ string) (string, error) {
		if kind == "secret" {
			r.wanted = append(r.wanted, want{at: n, what: what, name: name})
		}
		return "", nil
	})
	if err != nil {
		r.fault(n, "%s: %s", what, err)
	}
	return err == nil
}

// want is a secret that something names.
type want struct {
	at         *yaml.Node
	what, name string
	bare       bool // it may be the secret itself, which is not shown
}

// promised finds fault with names of secrets that there are not. It comes last: the
// secrets may stand anywhere in the file.
func (r *reader) promised(secrets *yaml.Node) {
	known := make(map[string]bool)
	if secrets != nil && secrets.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(secrets.Content); i += 2 {
			known[secrets.Content[i].Value] = true // also one that has faults of its own
		}
	}
	for _, w := range r.wanted {
		if known[w.name] {
			continue
		}
		text := ": there are none"
		if len(known) > 0 {
			text = hint(w.name, slices.Sorted(maps.Keys(known)))
		}
		if w.bare && !strings.Contains(text, "did you mean") {
			r.fault(w.at, "%s: got what does not stand under secrets, want the name of one there, not the secret itself", w.what)
			continue
		}
		r.fault(w.at, "%s: got the secret %q, which does not stand under secrets%s", w.what, w.name, text)
	}
}

// Secrets are the names of the secrets that its values hold.
func (s Server) Secrets() (names []string) {
	_, _ = s.Filled(
		func(string) (string, bool) { return "", true },
		func(name string) (string, error) { names = append(names, name); return "", nil },
	)
	slices.Sort(names)
	return slices.Compact(names)
}

// Filled is the server with values in the place of ${NAME}, a variable of the
// environment, ${NAME:-other}, and ${secret:NAME}: in Env, in Header, and escaped
// in the query of URL. A variable that is not set is an error.
func (s Server) Filled(env func(string) (string, bool), secret func(string) (string, error)) (Server, error) {
	of := func(kind, name, other string) (string, error) {
		if kind == "secret" {
			return secret(name)
		}
		value, ok := env(name)
		switch {
		case kind == "default" && value == "":
			return other, nil
		case !ok:
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return value, nil
	}
	s.Env, s.Header = slices.Clone(s.Env), maps.Clone(s.Header)
	for i, e := range s.Env {
		name, value, _ := strings.Cut(e, "=")
		text, err := fill(value, of)
		if err != nil {
			return s, fmt.Errorf("env.%s: %w", name, err)
		}
		s.Env[i] = name + "=" + text
	}
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		text, err := fill(s.Header[name], of)
		if err != nil {
			return s, fmt.Errorf("headers.%s: %w", name, err)
		}
		s.Header[name] = text
	}
	text, err := fill(s.LoginSecret, of)
	if err != nil {
		return s, fmt.Errorf("login.client_secret: %w", err)
	}
	s.LoginSecret = text
	if bare, query, ok := strings.Cut(s.URL, "?"); ok {
		text, err := fill(query, func(kind, name, other string) (string, error) {
			value, err := of(kind, name, other)
			return url.QueryEscape(value), err
		})
		if err != nil {
			return s, fmt.Errorf("url: %w", err)
		}
		s.URL = bare + "?" + text
	}
	return s, nil
}
