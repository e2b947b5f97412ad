package policy

import (
	"net/netip"
	"strconv"
	"strings"
)

// host is where a call connects to, in its one spelling.
type host struct {
	name string // a name in small letters, or an address; those with colons in brackets
	port string // "": not said
}

func (h host) String() string {
	if h.port == "" {
		return h.name
	}
	return h.name + ":" + h.port
}

// parseHost reads a host; ok is false for what is none or has more than one
// reading: a look-alike in other letters, a part of an address before an @, a
// path, a number that some programs take for an address.
func parseHost(text string) (h host, ok bool) {
	if a, err := netip.ParseAddr(text); err == nil { // also without brackets
		return address(a)
	}
	if rest, ok := strings.CutPrefix(text, "["); ok {
		inside, rest, closed := strings.Cut(rest, "]")
		a, err := netip.ParseAddr(inside)
		if err != nil || !a.Is6() || !closed {
			return host{}, false
		}
		if h, ok = address(a); !ok || rest == "" {
			return h, ok
		}
		port, ok := strings.CutPrefix(rest, ":")
		if !ok {
			return host{}, false
		}
		h.port, ok = parsePort(port)
		return h, ok
	}
	name, port, said := strings.Cut(text, ":")
	if said {
		if h.port, ok = parsePort(port); !ok {
			return host{}, false
		}
	}
	h.name, ok = domain(name)
	return h, ok
}

func address(a netip.Addr) (host, bool) {
	a = a.Unmap()
	switch {
	case a.Zone() != "":
		return host{}, false
	case a.Is6():
		return host{name: "[" + a.String() + "]"}, true
	}
	return host{name: a.String()}, true
}

func parsePort(text string) (string, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return strconv.FormatUint(n, 10), err == nil
}

// domain is a name in small letters, without the dot of the root, or an address
// of four numbers.
func domain(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".")
	// Letters first: lower case makes ASCII of some that are not.
	if len(name) > 253 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		return "", false
	}
	name = strings.ToLower(name)
	last := ""
	for last = range strings.SplitSeq(name, ".") {
		if last == "" || len(last) > 63 {
			return "", false
		}
	}
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		a, err := netip.ParseAddr(name)
		return name, err == nil && a.Is4()
	}
	return name, true
}

// parseHostPattern reads a host, *.host or *.
func parseHostPattern(text string) (string, bool) {
	if text == "*" {
		return text, true
	}
	rest, star := strings.CutPrefix(text, "*.")
	h, ok := parseHost(rest)
	if _, err := netip.ParseAddr(strings.Trim(h.name, "[]")); star {
		return "*." + h.String(), ok && err != nil
	}
	return h.String(), ok
}

// globHost matches a host. A pattern without a port fits each port; one with a
// port certainly fits that one alone, and may fit where no port is said.
func globHost(pattern string, h host, certainly bool) bool {
	if pattern == "*" {
		return true
	}
	name, port := pattern, ""
	if i := strings.LastIndexByte(pattern, ':'); i >= 0 && !strings.HasSuffix(pattern, "]") {
		name, port = pattern[:i], pattern[i+1:]
	}
	if port != "" && port != h.port && (certainly || h.port != "") {
		return false
	}
	if sub, star := strings.CutPrefix(name, "*"); star {
		return strings.HasSuffix(h.name, sub) && len(h.name) > len(sub)
	}
	return h.name == name
}
