package config

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// login reads how a person logs in to a server. Most need none of it: what there is
// to know the server says itself.
func (r *reader) login(n *yaml.Node, what string, s *Server) {
	if n.Kind == yaml.ScalarNode && n.Value == "false" {
		s.LoginOff = true
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "%s: got %s, want false, or some of client_id, client_secret, issuer, scopes and port", what, kindOf(n))
		return
	}
	r.fields(n, what, []string{"client_id", "client_secret", "issuer", "scopes", "port"}, func(key string, v *yaml.Node) {
		what := what + "." + key
		switch key {
		case "client_id":
			s.LoginClient = r.said(v, what)
		case "client_secret":
			text, ok := r.filled(v, what)
			if ok && !strings.Contains(text, "${") { // which is not shown
				r.fault(v, "%s: got a text, want \"${secret:NAME}\", one of secrets: this file is no place for it", what)
				return
			}
			s.LoginSecret = text
		case "issuer":
			if s.LoginIssuer = r.said(v, what); s.LoginIssuer != "" && !issuerName(s.LoginIssuer) {
				r.fault(v, "%s: got %q, want the address of an authorization server, such as https://login.example", what, s.LoginIssuer)
			}
		case "scopes":
			for _, item := range r.items(v, what, "names of scopes") {
				scope, ok := r.text(item, what)
				if ok && !scopeName(scope) {
					r.fault(item, "%s: got %q, want the name of a scope, without spaces", what, scope)
				} else if ok {
					s.LoginScopes = append(s.LoginScopes, scope)
				}
			}
		case "port":
			if s.LoginPort = r.positive(v, what); s.LoginPort > 65535 {
				r.fault(v, "%s: got %d, want 1 to 65535", what, s.LoginPort)
			}
		}
	})
	if s.LoginSecret != "" && s.LoginClient == "" {
		r.fault(n, "%s: got client_secret and no client_id, want both: they are of a client that was registered by hand", what)
	}
}

// scopeName says whether a text can be the name of a scope (RFC 6749, 3.3).
func scopeName(text string) bool {
	odd := func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }
	return text != "" && !strings.ContainsFunc(text, odd)
}

// issuerName says whether a text can be the name of an authorization server
// (RFC 8414, 2).
func issuerName(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && !strings.ContainsAny(text, "?# ") &&
		(u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()))
}

// CanLogin reports why nobody can log in to a server; nil: a person can, if the
// server wants that.
func (s Server) CanLogin() error {
	u, err := url.Parse(s.URL)
	switch {
	case s.URL == "" || err != nil:
		return errors.New("it is a command, want one with a url: nobody logs in to a program on this machine")
	case s.LoginOff:
		return errors.New("its configuration says login: false: take that out")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return errors.New("its url is http://, want https://: the token would go over the network in the clear")
	case s.authorized():
		return errors.New("its configuration has a header Authorization, which is sent in place of a login: take it out to log in")
	}
	return nil
}

// authorized says whether a server is given an authorization of its own.
func (s Server) authorized() bool {
	for name := range s.Header {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// loginPairs are the keys of login as they stand in a file; "": it has none.
func (s Server) loginPairs() string {
	var list []string
	if s.LoginClient != "" {
		list = append(list, "client_id: "+quote(s.LoginClient))
	}
	if s.LoginSecret != "" {
		list = append(list, "client_secret: "+quote(s.LoginSecret))
	}
	if s.LoginIssuer != "" {
		list = append(list, "issuer: "+quote(s.LoginIssuer))
	}
	if len(s.LoginScopes) > 0 {
		list = append(list, "scopes: "+quoteList(s.LoginScopes))
	}
	if s.LoginPort > 0 {
		list = append(list, "port: "+strconv.Itoa(s.LoginPort))
	}
	switch {
	case s.LoginOff:
		return "false"
	case len(list) == 0:
		return ""
	}
	return "{" + strings.Join(list, ", ") + "}"
}
