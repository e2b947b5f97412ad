package builtin

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// fetchMaxURL is how long an address may be, in bytes.
const fetchMaxURL = 8192

// fetchTarget is an address in its one spelling.
type fetchTarget struct {
	url  *url.URL
	name string     // small letters, no dot at the end; "" where addr is set
	addr netip.Addr // where the host is an address
	port uint16
}

// String is the host as rules see it: with its port, unless that is the usual
// one.
func (t fetchTarget) String() string { return t.url.Host }

// host is the name or the address, without a port.
func (t fetchTarget) host() string {
	if t.name != "" {
		return t.name
	}
	return t.addr.String()
}

// fetchParse reads an address. What has more than one reading is refused: it
// would be judged by one and opened by the other.
func fetchParse(raw string) (fetchTarget, error) {
	if len(raw) > fetchMaxURL {
		return fetchTarget{}, fetchBadURL("it has %d bytes, want at most %d", len(raw), fetchMaxURL)
	}
	if !utf8.ValidString(raw) {
		return fetchTarget{}, fetchBadURL("it is not UTF-8")
	}
	for _, c := range raw {
		if c == '\\' || unicode.IsSpace(c) || unicode.Is(unicode.C, c) {
			return fetchTarget{}, fetchBadURL("it has the character %q in it, which is written as %s", c, url.PathEscape(string(c)))
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return fetchTarget{}, fetchBadURL("it cannot be read as one")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https": // Parse has made small letters of them
		return fetchTarget{}, fetchBadURL("want http:// or https:// in front")
	case u.Opaque != "" || u.Host == "":
		return fetchTarget{}, fetchBadURL("want a host behind %s://", u.Scheme)
	case u.User != nil || strings.Contains(fetchAuthority(raw), "@"):
		return fetchTarget{}, fetchBadURL("want it without a name or a password in front of the host")
	case strings.Contains(fetchAuthority(raw), "%"):
		return fetchTarget{}, fetchBadURL("want a host without %% and without a zone")
	}
	t := fetchTarget{url: u}
	if err := t.readHost(u.Host); err != nil {
		return fetchTarget{}, err
	}
	if err := t.readPort(u.Port()); err != nil {
		return fetchTarget{}, err
	}
	u.Host, u.Fragment, u.RawFragment = t.spelled(), "", ""
	return t, nil
}

// fetchAuthority is what stands between // and the path.
func fetchAuthority(raw string) string {
	_, rest, _ := strings.Cut(raw, "//")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

func (t *fetchTarget) readHost(host string) (err error) {
	if inside, ok := strings.CutPrefix(host, "["); ok {
		inside, _, _ = strings.Cut(inside, "]")
		if t.addr, err = netip.ParseAddr(inside); err != nil || !t.addr.Is6() { // a zone has a %
			return fetchBadURL("want an IPv6 address between the brackets")
		}
		t.addr = t.addr.Unmap()
		return nil
	}
	name, _, _ := strings.Cut(host, ":")
	ascii := true
	for _, c := range name {
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii {
		if name, err = idna.Lookup.ToASCII(name); err != nil {
			return fetchBadURL("its host is no name that can be looked up")
		}
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if len(name) > 253 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return fetchBadURL("its host is no name that can be looked up")
	}
	last := ""
	for last = range strings.SplitSeq(name, ".") {
		if last == "" || len(last) > 63 {
			return fetchBadURL("its host is no name that can be looked up")
		}
	}
	// No name of the web ends in a number, and programs disagree on what 127.1,
	// 0x7f.1 or 0177.0.0.1 are.
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		if t.addr, err = netip.ParseAddr(name); err != nil || !ascii {
			return fetchBadURL("want an IPv4 address as four decimal numbers, such as 192.0.2.1")
		}
		return nil
	}
	t.name = name
	return nil
}

func (t *fetchTarget) readPort(text string) error {
	if t.port = 80; t.url.Scheme == "https" {
		t.port = 443
	}
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return fetchBadURL("want a port from 1 to 65535")
	}
	t.port = uint16(n)
	return nil
}

func (t *fetchTarget) spelled() string {
	host := t.host()
	if t.addr.Is6() {
		host = "[" + host + "]"
	}
	if usual := map[string]uint16{"http": 80, "https": 443}; t.port != usual[t.url.Scheme] {
		host += ":" + strconv.Itoa(int(t.port))
	}
	return host
}

// redirect is where an answer with a Location leads.
func (t fetchTarget) redirect(location string) (fetchTarget, error) {
	ref, err := url.Parse(location)
	switch {
	case err != nil:
		return fetchTarget{}, fetchBadURL("it cannot be read as one")
	case ref.Scheme != "":
		return fetchParse(location)
	case strings.HasPrefix(location, "//"):
		return fetchParse(t.url.Scheme + ":" + location)
	}
	return fetchParse(t.url.ResolveReference(ref).String())
}
