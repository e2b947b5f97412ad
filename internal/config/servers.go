package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/tool"
)

// Server is an MCP server whose tools are offered. It has a Command or a URL.
type Server struct {
	Name string
	// Command is the program and its arguments; no shell reads it. Dir is where it
	// runs, absolute; "": the workspace. Env is what it is given beside the little
	// that every one is, as NAME=value, in the order of the file.
	Command []string
	Dir     string
	Env     []string
	// URL is where it is reached over HTTP, Header what goes with each request.
	// Values here, in Env and in the query of URL may name others: see
	// [Server.Filled].
	URL    string
	Header map[string]string
	// LoginClient and LoginSecret are of a client that was registered by hand; "": it
	// registers itself. LoginScopes are asked for; none: what the server names.
	// LoginPort is where a login comes back to; 0: any. LoginOff: nobody logs in.
	LoginClient, LoginSecret string
	// LoginIssuer is the authorization server to log in at; "": the one of the first
	// login.
	LoginIssuer string
	LoginScopes []string
	LoginPort   int
	LoginOff    bool
	// Trust is the class of the source, in a word; "": mcp.
	Trust string
	// Believe are the tools whose annotations count as claims; BelieveAll: all.
	Believe    []string
	BelieveAll bool
	Unprefixed bool          // tools have their own names
	Timeout    time.Duration // of a call; 0: the default
	AtOnce     int           // calls; 0: no cap
	Era        string        // "2025" or "2026"; "": what it speaks
	Off        bool          // it is not started
	Follow     bool          // its tools are accepted however they change
	// EnvPass are variables of the program's own environment that it is given too:
	// names, or the beginnings of some with a * behind. See [Server.Passed].
	EnvPass []string
	// Claims are what the operator says of tools, by their own names: they stand in
	// the place of what the server says.
	Claims map[string]tool.Claims
	// Isolate is how its process is isolated; without a Level: no more than each is.
	// Workspace "": that of the configuration.
	Isolate Sandbox
	// CallsPerMinute, and bytes of the arguments and of the result of a call; 0: no
	// cap.
	CallsPerMinute             int
	ArgumentBytes, ResultBytes int64
	// BreakerAfter is after how many calls without an answer it is left alone, and
	// BreakerPause for how long at first; 0: the default. BreakerOff: it never is.
	BreakerAfter int
	BreakerPause time.Duration
	BreakerOff   bool
	// Sanitize is what is done to what its tools return, FailClosed whether what
	// something was found in is withheld; "" and nil: as content says.
	Sanitize   string
	FailClosed *bool
	// Line and Column are where it stands in the file.
	Line, Column int
}

// taken are names of sources that are the program's.
func taken() []string { return []string{"builtin", "ferrule"} }

// servers reads the servers, in the order of the file.
func (r *reader) servers(n *yaml.Node, c *Config) {
	if empty(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "servers: got %s, want names, each with a command or a url", kindOf(n))
		return
	}
	r.each(n, "servers", func(key, v *yaml.Node) {
		name := key.Value
		switch err := (tool.Source{Name: name}).Check(); {
		case name == "":
			r.fault(key, "servers: got an empty name, want letters, digits, _ and -")
		case err != nil:
			r.fault(key, "servers: %s", strings.TrimPrefix(err.Error(), "source: "))
		case slices.Contains(taken(), name):
			r.fault(key, "servers: got the name %q, want another: it is that of the program's own tools", name)
		default:
			s := Server{Name: name, Line: key.Line, Column: key.Column}
			if r.server(v, "servers."+name, &s) {
				c.Servers = append(c.Servers, s)
			}
		}
	})
}

// each calls f for each key of a mapping whose keys are free.
func (r *reader) each(n *yaml.Node, what string, f func(key, v *yaml.Node)) {
	var names []string
	keys := make(map[string]*yaml.Node)
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; keys[key.Value] == nil {
				names, keys[key.Value] = append(names, key.Value), key
			}
		}
	}
	r.fields(n, what, names, func(name string, v *yaml.Node) { f(keys[name], v) })
}

func (r *reader) server(n *yaml.Node, what string, s *Server) bool {
	before := len(r.errs)
	if empty(n) {
		r.fault(n, "%s: got nothing, want a command or a url", what)
		return false
	}
	var args []string
	has := make(map[string]*yaml.Node)
	keys := append([]string{"command", "args", "env", "dir", "url", "headers", "login", "trust", "believe", "unprefixed", "timeout", "at_once", "era", "pins", "off"}, ruleKeys()...)
	r.fields(n, what, keys, func(key string, v *yaml.Node) {
		what := what + "." + key
		has[key] = v
		switch key {
		case "command":
			if word := r.said(v, what); word != "" {
				s.Command = []string{word}
			}
		case "args":
			for _, item := range r.items(v, what, "texts") {
				if a, ok := r.text(item, what); ok {
					args = append(args, a)
				}
			}
		case "env":
			r.each(v, what, func(key, v *yaml.Node) {
				if key.Value == "" || strings.ContainsAny(key.Value, "= \t\x00") {
					r.fault(key, "%s: got %q, want the name of a variable", what, key.Value)
				} else if text, ok := r.filled(v, what+"."+key.Value); ok {
					s.Env = append(s.Env, key.Value+"="+text)
				}
			})
		case "dir":
			if text := r.said(v, what); text != "" {
				s.Dir = r.path(text)
			}
		case "url":
			s.URL = r.address(v, what)
		case "headers":
			s.Header = r.headers(v, what)
		case "login":
			r.login(v, what, s)
		case "trust":
			s.Trust = r.word(v, what, "web", "mcp", "skill-untrusted", "skill-trusted", "own")
		case "believe":
			if v.Kind == yaml.SequenceNode {
				s.Believe = r.texts(v, what)
			} else {
				s.BelieveAll = r.yesOr(v, what, "true, false or a list of names of tools")
			}
		case "unprefixed":
			s.Unprefixed = r.yes(v, what)
		case "timeout":
			s.Timeout = r.span(v, what)
		case "at_once":
			s.AtOnce = r.positive(v, what)
		case "era":
			if v.Kind == yaml.ScalarNode && v.Tag == "!!int" { // it reads as a year
				v.Tag = "!!str"
			}
			s.Era = r.word(v, what, "2025", "2026")
		case "pins":
			s.Follow = r.word(v, what, "ask", "follow") == "follow"
		case "off":
			s.Off = r.yes(v, what)
		default:
			r.serverRule(key, v, what, s)
		}
	})
	if len(r.errs) > before {
		return false
	}
	if err := whole(s, args, has); err != nil {
		r.fault(n, "%s: %s", what, err)
		return false
	}
	if key, err := s.ruled(); err != nil {
		r.fault(has[key], "%s.%s: %s", what, key, err)
		return false
	}
	s.Command = append(s.Command, args...)
	return true
}

// whole reports what of a server does not go together.
func whole(s *Server, args []string, has map[string]*yaml.Node) error {
	only := func(with string, keys ...string) error {
		for _, key := range keys {
			if has[key] != nil {
				return fmt.Errorf("got %s and %s, want one of them: %s is for a server with a %s", with, key, key, map[string]string{"url": "command", "command": "url"}[with])
			}
		}
		return nil
	}
	switch {
	case s.Follow && s.Trust != "own":
		return errors.New("pins: got follow, want it only with trust: own: who follows a server accepts whatever it will say of its tools")
	case s.URL != "" && len(s.Command) > 0:
		return errors.New("got command and url, want one of them")
	case has["login"] != nil && !s.LoginOff && s.authorized():
		return errors.New("got login and a header Authorization, want one of them")
	case s.URL != "":
		return only("url", "args", "env", "env_pass", "dir", "isolate")
	case len(s.Command) > 0:
		return only("command", "headers", "login")
	case len(args) > 0:
		return errors.New("got args and no command, want the program too")
	}
	return errors.New("got neither command nor url, want one of them")
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// yesOr is yes with another word on what is wanted.
func (r *reader) yesOr(n *yaml.Node, what, want string) bool {
	if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
		r.fault(n, "%s: got %s, want %s", what, kindOf(n), want)
		return false
	}
	return n.Value == "true"
}

// address is a URL of a server.
func (r *reader) address(n *yaml.Node, what string) string {
	text := r.said(n, what)
	if text == "" {
		return ""
	}
	bare, query, _ := strings.Cut(text, "?")
	switch u, err := url.Parse(text); {
	case strings.Contains(bare, "${"):
		r.fault(n, "%s: got ${ in front of the query, want it behind the ?: elsewhere nothing is filled in", what)
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		r.fault(n, "%s: got %q, want http:// or https://, a host and a path", what, text)
	case u.User != nil:
		r.fault(n, "%s: got a name or password in it, want a header: headers: {Authorization: \"${secret:NAME}\"}", what)
	default:
		r.references(n, what, query)
	}
	return text
}

// dirOf is a folder as it is written to the file: below the folder of that, if it
// is there.
func dirOf(dir, base string) string {
	if rel, err := filepath.Rel(base, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return dir
}

// headers are those of each request, with references to values.
func (r *reader) headers(n *yaml.Node, what string) (all map[string]string) {
	r.each(n, what, func(key, v *yaml.Node) {
		if !headerName.MatchString(key.Value) {
			r.fault(key, "%s: got %q, want the name of a header", what, key.Value)
		} else if text, ok := r.filled(v, what+"."+key.Value); ok {
			if all == nil {
				all = make(map[string]string)
			}
			all[key.Value] = text
		}
	})
	return all
}
