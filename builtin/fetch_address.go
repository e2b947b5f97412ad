package builtin

import (
	"net"
	"net/netip"
	"slices"
)

// fetchClass is what kind of address it is, and so what can open it.
type fetchClass uint8

// The classes, strictest first: the zero value is opened by nothing.
const (
	fetchNever   fetchClass = iota // leads to no one machine, or back to this one
	fetchSpecial                   // opened by an entry with the address
	fetchPrivate                   // opened by an entry with the name, too
	fetchPublic
)

type fetchRange struct {
	prefix string
	class  fetchClass
	what   string // for both readers
}

// fetchRanges are the addresses that are not public, the narrower ones first.
// Everything of IPv6 that is not in the list, and not in 2000::/3, is special.
func fetchRanges() []fetchRange {
	return []fetchRange{
		// Where clouds tell a machine its own credentials.
		{"169.254.169.254/32", fetchSpecial, "a metadata address"},
		{"169.254.170.0/24", fetchSpecial, "a metadata address"},
		{"168.63.129.16/32", fetchSpecial, "a metadata address"},
		{"100.100.100.200/32", fetchSpecial, "a metadata address"},
		{"192.0.0.192/32", fetchSpecial, "a metadata address"},
		{"fd00:ec2::/32", fetchSpecial, "a metadata address"},
		{"fd20:ce::254/128", fetchSpecial, "a metadata address"},

		{"0.0.0.0/8", fetchNever, "an unspecified address"}, // of which 0.0.0.0 is this machine
		{"255.255.255.255/32", fetchNever, "a broadcast address"},
		{"224.0.0.0/4", fetchNever, "a multicast address"},
		{"127.0.0.0/8", fetchPrivate, "a loopback address"},
		{"10.0.0.0/8", fetchPrivate, "a private address"},
		{"172.16.0.0/12", fetchPrivate, "a private address"},
		{"192.168.0.0/16", fetchPrivate, "a private address"},
		{"100.64.0.0/10", fetchPrivate, "a private address"}, // of carriers and of overlay networks
		{"169.254.0.0/16", fetchSpecial, "a link-local address"},
		{"192.0.0.0/24", fetchSpecial, "a reserved address"},
		{"192.0.2.0/24", fetchSpecial, "a reserved address"}, // documentation, thrice
		{"198.51.100.0/24", fetchSpecial, "a reserved address"},
		{"203.0.113.0/24", fetchSpecial, "a reserved address"},
		{"192.88.99.0/24", fetchSpecial, "a reserved address"}, // relays of 6to4
		{"192.52.193.0/24", fetchSpecial, "a reserved address"},
		{"192.31.196.0/24", fetchSpecial, "a reserved address"},
		{"192.175.48.0/24", fetchSpecial, "a reserved address"},
		{"198.18.0.0/15", fetchSpecial, "a reserved address"}, // benchmarks
		{"240.0.0.0/4", fetchSpecial, "a reserved address"},

		{"::/128", fetchNever, "an unspecified address"},
		{"::1/128", fetchPrivate, "a loopback address"},
		{"fc00::/7", fetchPrivate, "a private address"},
		{"fe80::/10", fetchSpecial, "a link-local address"},
		{"fec0::/10", fetchSpecial, "a private address"}, // site-local
		{"ff00::/8", fetchNever, "a multicast address"},
		// What has an IPv4 address in it, which a gateway may unpack.
		{"::/96", fetchSpecial, "a reserved address"},
		{"64:ff9b:1::/48", fetchSpecial, "a reserved address"},
		{"2002::/16", fetchSpecial, "a reserved address"},
		{"2001::/23", fetchSpecial, "a reserved address"}, // Teredo is in it
		{"2001:db8::/32", fetchSpecial, "a reserved address"},
		{"3fff::/20", fetchSpecial, "a reserved address"},
	}
}

// fetchTable is the list as it is asked.
type fetchTable struct {
	prefixes []netip.Prefix
	ranges   []fetchRange
}

func newFetchTable() (t fetchTable, err error) {
	t.ranges = fetchRanges()
	t.prefixes = make([]netip.Prefix, len(t.ranges))
	for i, r := range t.ranges {
		if t.prefixes[i], err = netip.ParsePrefix(r.prefix); err != nil {
			return t, err
		}
	}
	return t, nil
}

// class says what an address is.
func (t fetchTable) class(a netip.Addr) (fetchClass, string) {
	if !a.IsValid() || a.Zone() != "" {
		return fetchNever, "an address with a zone"
	}
	a = fetchPlain(a)
	for i, p := range t.prefixes {
		if p.Contains(a) {
			return t.ranges[i].class, t.ranges[i].what
		}
	}
	if a.Is6() {
		b := a.As16()
		if b[0]&0xe0 != 0x20 { // not in 2000::/3
			return fetchSpecial, "a reserved address"
		}
		if isatap := [3]byte{0, 0x5e, 0xfe}; b[8]&^2 == 0 && [3]byte(b[9:12]) == isatap {
			return fetchSpecial, "a reserved address" // an IPv4 address stands behind it
		}
	}
	return fetchPublic, ""
}

// fetchPlain takes an IPv4 address out of the two forms of IPv6 that lead to
// where it leads itself: mapped, and through the gateway of a network that has
// IPv6 alone.
func fetchPlain(a netip.Addr) netip.Addr {
	a = a.Unmap()
	gateway := [12]byte{0, 0x64, 0xff, 0x9b}
	if b := a.As16(); a.Is6() && [12]byte(b[:12]) == gateway {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

// fetchIsOwn reports whether an address is one of this machine, where a service
// may listen that is meant for it alone. Where the system does not tell, no
// address is: loopback is refused in any case.
func fetchIsOwn(a netip.Addr, own func() ([]net.Addr, error)) bool {
	list, err := own()
	return err == nil && slices.ContainsFunc(list, func(n net.Addr) bool {
		ip, ok := n.(*net.IPNet)
		if !ok {
			return false
		}
		mine, ok := netip.AddrFromSlice(ip.IP)
		return ok && mine.Unmap() == fetchPlain(a)
	})
}
