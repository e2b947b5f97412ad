package redact

import (
	"net/netip"
	"strings"
)

// ip4 is the address that begins at groups[0], if one does.
func ip4(text string, groups []group) (Span, bool) {
	if len(groups) < 4 || len(groups) > 4 && groups[4].sep == "." {
		return Span{}, false
	}
	var octets [4]int
	for i, g := range groups[:4] {
		if g.size() > 3 || g.size() > 1 && text[g.start] == '0' || i > 0 && g.sep != "." {
			return Span{}, false
		}
		for _, c := range []byte(text[g.start:g.end]) {
			octets[i] = octets[i]*10 + int(c-'0')
		}
		if octets[i] > 255 {
			return Span{}, false
		}
	}
	from, to := groups[0].start, groups[3].end
	if !standsAlone(text, from, to) || isVersion(text, from) || octets[0] == 255 {
		return Span{}, false
	}
	if at := text[from:to]; at == "0.0.0.0" || at == "127.0.0.1" {
		return Span{}, false
	}
	return Span{from, to, "ip"}, true
}

// isVersion reports whether what begins at a place is a version by what stands
// before it.
func isVersion(text string, at int) bool {
	before := strings.TrimRight(text[max(0, at-12):at], ` "'`)
	if n := len(before); n >= 2 && before[n-1] == '=' && strings.IndexByte("=<>~!^", before[n-2]) >= 0 {
		return true
	}
	for _, word := range []string{"version", "version:", "version=", "release", "ver.", "build"} {
		if len(before) >= len(word) && lowerIs(before[len(before)-len(word):], word) {
			return true
		}
	}
	return false
}

// ip6At finds the address around its first colon.
func ip6At(text string, at, from int) (Span, bool) {
	const longest = 45
	start := at
	for start > from && at-start < 5 && isHex(text[start-1]) {
		start--
	}
	if start > 0 && (isWord(text[start-1]) || text[start-1] == '-' || text[start-1] == ':') {
		return Span{}, false
	}
	end, colons, double, dots := at, 0, false, false
	for end < len(text) && end-start <= longest && (isHex(text[end]) || text[end] == ':' || text[end] == '.') {
		switch text[end] {
		case ':':
			colons++
			double = double || end > at && text[end-1] == ':'
		case '.':
			dots = true
		}
		end++
	}
	for end > at && (text[end-1] == '.' || text[end-1] == ':' && text[max(end-2, 0)] != ':') {
		if text[end-1] == ':' {
			colons--
		}
		end--
	}
	if end-start > longest || colons < 2 || colons > 7 || !double && colons != 7 && (!dots || colons != 6) || end < len(text) && isWord(text[end]) {
		return Span{}, false
	}
	digits := false
	for i := start; i < end; i++ {
		digits = digits || isDigit(text[i])
	}
	// a1::b is a name in many languages.
	if !digits || double && colons < 3 && at-start < 4 {
		return Span{}, false
	}
	addr, err := netip.ParseAddr(text[start:end])
	if err != nil || addr.IsLoopback() || addr.IsUnspecified() {
		return Span{}, false
	}
	return Span{start, end, "ip"}, true
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
