package redact

const (
	minPhone = 7
	maxPhone = 15
)

// phoneAt finds a telephone number. A plus, the groups of North America, a leading
// zero and brackets speak for themselves; other groups need a word before them.
func phoneAt(text string, from int, groups []group) (Span, bool) {
	for n := phoneGroups(groups); n > 0; n-- {
		g := groups[:n]
		start, end := g[0].start, g[n-1].end
		plus := start > from && text[start-1] == '+'
		bracket := start > from && text[start-1] == '('
		if plus && start-1 > from && text[start-2] == '(' {
			continue
		}
		if plus || bracket {
			start--
		}
		size := 0
		for _, x := range g {
			size += x.size()
		}
		if size < minPhone || size > maxPhone || !closed(g, bracket) {
			continue
		}
		end = extension(text, end)
		if !standsAlone(text, start, end) {
			continue
		}
		if plus && international(text, start, g, size) || !plus && northAmerican(g, bracket) ||
			!plus && !bracket && trunk(text, g, size) || bracket && inBrackets(g, size) ||
			spoken(text, start, g) {
			return Span{start, end, "phone"}, true
		}
	}
	return Span{}, false
}

// phoneGroups is how many groups may be of one number.
func phoneGroups(groups []group) int {
	n, size := 0, 0
	for n < len(groups) && n < 8 {
		if n > 0 {
			switch groups[n].sep {
			case " ", "-", ".", ")", ") ", ")-", " (", "(", "-(":
			default:
				return n
			}
		}
		if size += groups[n].size(); size > maxPhone {
			break
		}
		n++
	}
	return n
}

// closed reports whether brackets come in pairs.
func closed(groups []group, open bool) bool {
	for _, g := range groups[1:] {
		for i := range len(g.sep) {
			switch g.sep[i] {
			case '(':
				if open {
					return false
				}
				open = true
			case ')':
				if !open {
					return false
				}
				open = false
			}
		}
	}
	return !open
}

// extension is where a number ends, with the extension behind it.
func extension(text string, end int) int {
	i := end
	if i < len(text) && text[i] == ' ' {
		i++
	}
	switch {
	case i+1 < len(text) && text[i] == 'x' && isDigit(text[i+1]):
		i++
	case i+4 < len(text) && lowerIs(text[i:i+4], "ext."):
		i += 4
	case i+3 < len(text) && lowerIs(text[i:i+3], "ext"):
		i += 3
	default:
		return end
	}
	if text[i] == ' ' {
		i++
	}
	digits := i
	for i < len(text) && i-digits < 7 && isDigit(text[i]) {
		i++
	}
	if i == digits || i-digits > 6 {
		return end
	}
	return i
}

// international is +41 44 668 18 00. A lone number behind a plus at the beginning of
// a line is a line that was added.
func international(text string, start int, groups []group, size int) bool {
	if size < 8 || text[groups[0].start] == '0' {
		return false
	}
	if len(groups) == 1 {
		return size >= 10 && start > 0 && text[start-1] != '\n'
	}
	return true
}

// northAmerican is 212-555-0100, (212) 555-0100 or 1-212-555-0100.
func northAmerican(groups []group, bracket bool) bool {
	if n := len(groups); n == 4 && !bracket && groups[0].size() <= 3 {
		groups = groups[1:] // 1 or 001
	} else if n != 3 {
		return false
	}
	if groups[0].size() != 3 || groups[1].size() != 3 || groups[2].size() != 4 {
		return false
	}
	last := groups[2].sep
	return last == "-" || last == "." && groups[1].sep == "." || bracket && last == " "
}

// trunk is 0490 75 40 81: a leading zero is dialled inside a country.
func trunk(text string, groups []group, size int) bool {
	first := groups[0]
	if len(groups) < 2 || len(groups) > 5 || size < 9 || size > 11 || first.size() > 5 || text[first.start] != '0' || first.size() < 2 || text[first.start+1] == '0' {
		return false
	}
	for _, g := range groups[1:] {
		if g.size() < 2 || g.size() > 8 {
			return false
		}
	}
	return alike(groups, len(groups), " -.") && (len(groups) > 2 || first.size() >= 3)
}

// inBrackets is (08) 8747 6301.
func inBrackets(groups []group, size int) bool {
	if len(groups) < 2 || len(groups) > 4 || groups[0].size() < 2 || groups[0].size() > 5 || groups[1].sep[0] != ')' || size < 8 {
		return false
	}
	return groups[len(groups)-1].size() >= 3
}

// spoken is a number in groups of any kind, or none, that a word announces.
func spoken(text string, start int, groups []group) bool {
	if start > 1 && text[start-1] == ',' && isDigit(text[start-2]) {
		return false // 1,234,567
	}
	for i, g := range groups {
		if g.size() < 2 && i > 0 && (i != 1 || g.sep != " (") {
			return false
		}
	}
	if n := len(groups); n == 3 && alike(groups, 3, "-./") && (groups[0].size() == 4 || groups[2].size() == 4) && groups[1].size() == 2 {
		return false // a date
	}
	return said(text, start, "phone", "phones", "telephone", "mobile", "tel", "fax", "cell", "cellphone", "call", "dial", "whatsapp", "sms", "desk", "hotline", "pager", "landline", "handy", "telefon")
}
