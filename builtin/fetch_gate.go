package builtin

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// fetchGate decides which hosts and which addresses are opened.
type fetchGate struct {
	list  []fetchEntry
	only  bool
	table fetchTable
	own   func() ([]net.Addr, error)
}

// fetchEntry is one of Fetch.Hosts.
type fetchEntry struct {
	name   string // "" where it is about addresses
	below  bool   // the names below it, not itself
	prefix netip.Prefix
	port   uint16 // 0: any that is usual
}

// fetchReadEntry reads a host, host:port, *.host, an address, address:port or a
// range of addresses.
func fetchReadEntry(text string) (e fetchEntry, err error) {
	bad := func() error {
		return fmt.Errorf("hosts: got %q, want a host such as example.com, *.example.com, localhost:3000, 10.1.0.0/16 or [fd00::1]:8080", text)
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		if p.Addr().Is4In6() || p != p.Masked() {
			return e, fmt.Errorf("hosts: got %q, want the first address of the range, such as %s", text, p.Masked())
		}
		return fetchEntry{prefix: p}, nil
	}
	host, below := strings.CutPrefix(text, "*.")
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		host = "[" + host + "]" // also without brackets
	}
	if strings.ContainsAny(host, "/?#@") {
		return e, bad()
	}
	// By the same reader as addresses, so that both have one spelling. The port
	// that goes without saying there does not here.
	t, err := fetchParse("http://" + host)
	if err != nil {
		return e, bad()
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		if e.port = t.port; i == len(host)-1 {
			return e, bad()
		}
	}
	if t.name == "" {
		e.prefix = netip.PrefixFrom(t.addr, t.addr.BitLen())
		if below {
			return e, bad()
		}
		return e, nil
	}
	e.name, e.below = t.name, below
	return e, nil
}

func (e fetchEntry) fits(t fetchTarget) bool {
	switch {
	case e.port != 0 && e.port != t.port:
		return false
	case e.name == "":
		return t.name == "" && e.prefix.Contains(fetchPlain(t.addr))
	case e.below:
		return strings.HasSuffix(t.name, "."+e.name)
	}
	return t.name == e.name
}

// names reports whether an entry names the host, or the very address where that
// is all there is.
func (g *fetchGate) names(t fetchTarget) bool {
	return slices.ContainsFunc(g.list, func(e fetchEntry) bool { return e.fits(t) })
}

// host decides by what the address says, before anything is looked up.
func (g *fetchGate) host(t fetchTarget) error {
	listed := g.names(t)
	portListed := slices.ContainsFunc(g.list, func(e fetchEntry) bool { return e.port != 0 && e.fits(t) })
	switch {
	case !fetchUsualPort(t.port) && !portListed:
		return &fetchRefusal{
			text:   fmt.Sprintf("Port %d is not opened by fetch.", t.port),
			detail: fmt.Sprintf("port %d of %s is not one of 80, 443 and those from 1024 on that browsers open and caches do not use; %s", t.port, t.host(), fetchOpens(t.host(), t.port)),
		}
	case g.only && !listed:
		return &fetchRefusal{
			text:   fmt.Sprintf("%s is not among the hosts that fetch may open here.", t.host()),
			detail: fmt.Sprintf("%s is in no entry of tools.fetch.hosts, and nothing else is opened; %s", t.host(), fetchOpens(t.host(), 0)),
		}
	case t.name == "":
		return g.address(t, t.addr)
	case !listed && fetchLocalName(t.name):
		return &fetchRefusal{
			text:   fmt.Sprintf("%s is a name of a local network, which fetch does not open.", t.name),
			detail: fmt.Sprintf("%s is a name that means something else on each network; %s", t.name, fetchOpens(t.name, 0)),
		}
	}
	return nil
}

// address decides by where the connection really goes.
func (g *fetchGate) address(t fetchTarget, a netip.Addr) error {
	class, what := g.table.class(a)
	if class == fetchPublic && fetchIsOwn(a, g.own) {
		class, what = fetchPrivate, "an address of this machine"
	}
	reached := fetchTarget{addr: a, port: t.port}
	var opens string
	switch class {
	case fetchPublic:
		return nil
	case fetchPrivate:
		if g.names(t) || g.names(reached) {
			return nil
		}
		opens = fetchOpens(t.host(), 0)
	case fetchSpecial:
		if g.names(reached) {
			return nil
		}
		opens = fetchOpens(fetchPlain(a).String(), 0)
	case fetchNever:
		opens = "nothing opens it"
	}
	// The model knows the host that it named; where that leads is the operator's.
	says, where := "leads to", fmt.Sprintf("%s is %s, ", t.host(), a)
	if t.name == "" {
		says = "is"
		if t.host() == a.String() {
			where = t.host() + " is "
		}
	}
	return &fetchRefusal{
		text:   fmt.Sprintf("%s %s %s, which fetch does not open.", t.host(), says, what),
		detail: where + what + "; " + opens,
	}
}

// fetchOpens is the line of the configuration that would open a host.
func fetchOpens(host string, port uint16) string {
	if port != 0 {
		host = net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	return fmt.Sprintf("to open it: tools.fetch.hosts: [%q]", host)
}

// fetchLocalName reports whether a name belongs to this machine or its network,
// whatever it would resolve to.
func fetchLocalName(name string) bool {
	if !strings.Contains(name, ".") {
		return true
	}
	for _, top := range []string{
		"localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "metadata.goog",
	} {
		if name == top || strings.HasSuffix(name, "."+top) {
			return true
		}
	}
	return false
}

// fetchUsualPort reports whether a port is opened without being listed. Those
// above 1023 that are not are refused by browsers, or are caches (Redis,
// memcached): other protocols take a request there for theirs.
func fetchUsualPort(port uint16) bool {
	switch port {
	case 80, 443:
		return true
	case 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211:
		return false
	}
	return port >= 1024
}
