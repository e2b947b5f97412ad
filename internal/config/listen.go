package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ferrule-dev/ferrule/secret"
)

// Listen says how clients reach the gateway, and what they are listed.
type Listen struct {
	// Address is host:port; "": 127.0.0.1:7711.
	Address string
	// Open: no token is wanted. Only on a loopback address.
	Open bool
	// Tokens are principals beside the local user, each with the name of the secret
	// that is its token.
	Tokens map[string]string
	// Hosts are names that the gateway is reached by, beside those of this machine.
	Hosts []string
	// Cert and Key are files for TLS, absolute; "": none.
	Cert, Key string
	// Tools is how tools are listed: full or deferred; "": auto. Clients is the same
	// for clients by the name they give themselves.
	Tools   string
	Clients map[string]string
	// Names: deferred tools are listed by name, not only how many a server has.
	Names bool
	// Elsewhere: who must allow a call is not asked through the client that makes it.
	Elsewhere bool
}

// Where is the address, with its default.
func (l Listen) Where() string { return cmp.Or(l.Address, "127.0.0.1:7711") }

// Check reports why an address cannot be listened on so.
func (l Listen) Check() error {
	host, port, err := net.SplitHostPort(l.Where())
	if err != nil {
		return fmt.Errorf("got %q, want an address and a port such as 127.0.0.1:7711", l.Where())
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("got the port %q, want a number up to 65535", port)
	}
	if l.Open && !loopback(host) {
		return fmt.Errorf("got no token (auth: none) on %s, want a loopback address such as 127.0.0.1: others could call", l.Where())
	}
	return nil
}

// loopback reports whether a host is this machine only.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

func (r *reader) listen(n *yaml.Node, l *Listen) {
	if empty(n) {
		return
	}
	modes := []string{"auto", "full", "deferred"}
	at := n
	r.fields(n, "listen", []string{"address", "auth", "tokens", "hosts", "tls", "tools", "index", "clients", "approvals"}, func(key string, v *yaml.Node) {
		what := "listen." + key
		switch key {
		case "address":
			l.Address, at = r.said(v, what), v
		case "auth":
			l.Open = r.word(v, what, "token", "none") == "none"
		case "tokens":
			l.Tokens = r.tokens(v, what)
		case "hosts":
			l.Hosts = r.hosts(v, what)
		case "tls":
			r.tls(v, what, l)
		case "tools":
			l.Tools = mode(r.word(v, what, modes...))
		case "index":
			l.Names = r.word(v, what, "servers", "names") == "names"
		case "approvals":
			l.Elsewhere = r.word(v, what, "client", "elsewhere") == "elsewhere"
		case "clients":
			r.each(v, what, func(key, v *yaml.Node) {
				if l.Clients == nil {
					l.Clients = make(map[string]string)
				}
				l.Clients[key.Value] = mode(r.word(v, what+"."+key.Value, modes...))
			})
		}
	})
	if err := l.Check(); err != nil {
		r.fault(at, "listen.address: %s", err)
	}
	if l.Open && len(l.Tokens) > 0 {
		r.fault(n, "listen: got tokens and auth: none, want one of them: nobody would be asked for a token")
	}
}

// mode is how tools are listed, with "" for auto.
func mode(word string) string {
	if word == "auto" {
		return ""
	}
	return word
}

// tokens are principals with the names of the secrets that are their tokens.
func (r *reader) tokens(n *yaml.Node, what string) map[string]string {
	tokens, of := make(map[string]string), make(map[string]string)
	r.each(n, what, func(key, v *yaml.Node) {
		name := r.said(v, what+"."+key.Value)
		switch {
		case name == "":
		case key.Value == local:
			r.fault(key, "%s: got %s, want another: its token is made by the program", what, local)
		case strings.TrimSpace(key.Value) != key.Value || key.Value == "":
			r.fault(key, "%s: got %q, want the name of a principal", what, key.Value)
		case secret.CheckName(name) != nil: // it may be the token, which is not shown
			r.fault(v, "%s.%s: want the name of a secret, not the token itself", what, key.Value)
		case of[name] != "":
			r.fault(v, "%s.%s: got the secret of %s, want one of its own: the token says who it is", what, key.Value, of[name])
		default:
			tokens[key.Value], of[name] = name, key.Value
			r.wanted = append(r.wanted, want{at: v, what: what + "." + key.Value, name: name, bare: true})
		}
	})
	return tokens
}

// hosts are names, some with a port.
func (r *reader) hosts(n *yaml.Node, what string) (list []string) {
	for _, item := range r.items(n, what, "names of hosts") {
		s, ok := r.text(item, what)
		if !ok {
			continue
		}
		if s == "" || strings.ContainsAny(s, "/ \t*@") {
			r.fault(item, "%s: got %q, want a host such as tools.example or tools.example:8443", what, s)
			continue
		}
		list = append(list, s)
	}
	return list
}

func (r *reader) tls(n *yaml.Node, what string, l *Listen) {
	r.fields(n, what, []string{"cert", "key"}, func(key string, v *yaml.Node) {
		if text := r.said(v, what+"."+key); text != "" {
			*map[string]*string{"cert": &l.Cert, "key": &l.Key}[key] = r.path(text)
		}
	})
	if err := l.CheckTLS(); err != nil {
		r.fault(n, "%s: %s", what, err)
	}
}

// CheckTLS reports whether one of two files is missing.
func (l Listen) CheckTLS() error {
	if (l.Cert == "") != (l.Key == "") {
		return errors.New("got one of cert and key, want both")
	}
	return nil
}
