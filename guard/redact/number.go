package redact

// maxGroups is how many groups of digits are looked at together.
const maxGroups = 9

// group is a run of digits, and what stands between it and the one before.
type group struct {
	start, end int
	sep        string
}

func (g group) size() int { return g.end - g.start }

// groupsAt are the groups of digits from a place on that could belong together.
func groupsAt(text string, at int, groups []group) []group {
	sep := ""
	for len(groups) < maxGroups {
		end := at
		for end < len(text) && isDigit(text[end]) {
			end++
		}
		if end == at {
			break
		}
		groups = append(groups, group{at, end, sep})
		if end-at > maxCard {
			break // nothing is that long
		}
		at = end
		for at < len(text) && at-end < 3 && isSeparator(text[at]) {
			at++
		}
		if sep = text[end:at]; sep == "" {
			break
		}
	}
	return groups
}

func isSeparator(c byte) bool {
	return c == ' ' || c == '-' || c == '.' || c == '(' || c == ')'
}

// number finds what begins with the digit at a place. next is where to go on.
func (p Personal) number(text string, at, from int, groups []group) (s Span, next int) {
	groups = groupsAt(text, at, groups)
	next = groups[0].end
	var ok bool
	if p&IBAN != 0 && at >= 2 {
		if s, ok = ibanAt(text, at, from); ok {
			return s, s.End
		}
	}
	if p&IP != 0 {
		if s, ok = ip4(text, groups); ok {
			return s, s.End
		}
	}
	if p&Card != 0 {
		if s, ok = cardAt(text, groups); ok {
			return s, s.End
		}
	}
	if p&SSN != 0 {
		if s, ok = ssnAt(text, groups); ok {
			return s, s.End
		}
	}
	if p&Phone != 0 {
		if s, ok = phoneAt(text, from, groups); ok {
			return s, s.End
		}
	}
	return Span{}, next
}

// alike reports whether groups[1:n] are separated in the same way, by one of a few
// characters.
func alike(groups []group, n int, seps string) bool {
	for i := 1; i < n; i++ {
		if len(groups[i].sep) != 1 || groups[i].sep != groups[1].sep {
			return false
		}
		found := false
		for j := range len(seps) {
			found = found || groups[i].sep[0] == seps[j]
		}
		if !found {
			return false
		}
	}
	return true
}

// ssnAt finds a social security number: 3, 2 and 4 digits with hyphens, or in
// another form where a word says what it is.
func ssnAt(text string, groups []group) (Span, bool) {
	var digits [9]byte
	n, last := 0, 0
	switch {
	case len(groups) >= 3 && groups[0].size() == 3 && groups[1].size() == 2 && groups[2].size() == 4 && alike(groups, 3, "- ."):
		last = 2
		if groups[1].sep == "-" && len(groups) > 3 && groups[3].sep == "-" {
			return Span{}, false
		}
	case groups[0].size() == 9:
	default:
		return Span{}, false
	}
	from, to := groups[0].start, groups[last].end
	for i := from; i < to; i++ {
		if isDigit(text[i]) {
			digits[n] = text[i]
			n++
		}
	}
	d := string(digits[:])
	if d[:3] == "000" || d[:3] == "666" || d[3:5] == "00" || d[5:] == "0000" || !standsAlone(text, from, to) {
		return Span{}, false
	}
	if (last == 0 || groups[1].sep != "-") && !said(text, from, "ssn", "social", "itin", "tin") {
		return Span{}, false
	}
	return Span{from, to, "ssn"}, true
}
