package reply

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/ferrule-dev/ferrule/provider"
)

// shortest is how long a value is that may be a key. What servers on one's own machine
// are given for one (ollama, EMPTY) is a word that their errors may have.
const shortest = 8

// hide takes the keys of the request out of what the provider says of it: not all of
// them know that an error is printed.
func hide(said *provider.Error, res *http.Response) {
	if res == nil || res.Request == nil {
		return
	}
	for _, key := range keys(res.Request) {
		said.Code = strings.ReplaceAll(said.Code, key, "[secret]")
		said.Text = strings.ReplaceAll(said.Text, key, "[secret]")
	}
}

// keys are what a request proves with who sends it.
func keys(r *http.Request) []string {
	var found []string
	add := func(value string) {
		if len(value) >= shortest {
			found = append(found, value)
		}
	}
	from := func(values map[string][]string) {
		for name, all := range values {
			if !names(name) {
				continue
			}
			for _, v := range all {
				if scheme, key, ok := strings.Cut(v, " "); ok && !strings.Contains(scheme, "=") {
					v = strings.TrimSpace(key) // Bearer, Basic
				}
				add(v)
			}
		}
	}
	from(r.Header)
	if r.URL != nil {
		from(r.URL.Query())
		if password, ok := r.URL.User.Password(); ok {
			add(password)
			add(url.QueryEscape(password))
		}
	}
	return found
}

// names reports whether a header or parameter is named like one that has a key.
func names(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password", "signature"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
