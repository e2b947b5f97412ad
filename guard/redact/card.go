package redact

const (
	minCard = 12
	maxCard = 19
)

// cardAt finds the number of a payment card: all in one, or in the groups that are
// printed on cards.
func cardAt(text string, groups []group) (Span, bool) {
	var digits [maxCard]byte
	for n := cardGroups(groups); n > 0; n-- {
		from, to := groups[0].start, groups[n-1].end
		if !cardShape(groups[:n]) || !standsAlone(text, from, to) {
			continue
		}
		size := 0
		for i := from; i < to && size < maxCard; i++ {
			if isDigit(text[i]) {
				digits[size] = text[i]
				size++
			}
		}
		if issued(digits[:size]) && luhn(digits[:size]) {
			return Span{from, to, "card"}, true
		}
	}
	return Span{}, false
}

// cardGroups is how many groups may be of one card.
func cardGroups(groups []group) int {
	n, size := 0, 0
	for n < len(groups) && n < 5 {
		if n > 0 && !alike(groups, n+1, " -") {
			break
		}
		if size += groups[n].size(); size > maxCard {
			break
		}
		n++
	}
	return n
}

// cardShape reports whether groups have the sizes that cards have: fours and a
// rest, or 4, 6 and 4 or 5.
func cardShape(groups []group) bool {
	size := 0
	for _, g := range groups {
		size += g.size()
	}
	if size < minCard || size > maxCard {
		return false
	}
	if n := len(groups); n == 1 || n == 3 && groups[0].size() == 4 && groups[1].size() == 6 && groups[2].size() >= 4 {
		return true
	}
	for _, g := range groups[:len(groups)-1] {
		if g.size() != 4 {
			return false
		}
	}
	return groups[len(groups)-1].size() <= 4
}

// issued reports whether an issuer gives out numbers with this beginning and length.
func issued(digits []byte) bool {
	n, head := len(digits), 0
	for _, d := range digits[:4] {
		head = head*10 + int(d-'0')
	}
	switch two := head / 100; {
	case two == 34 || two == 37: // American Express
		return n == 15
	case head/10 >= 300 && head/10 <= 305 || head == 3095 || two == 36 || two == 38 || two == 39: // Diners
		return n == 14 || n >= 16
	case two == 35: // JCB
		return n >= 16
	case head == 2131 || head == 1800: // JCB of old
		return n == 15
	case two/10 == 4: // Visa
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, head >= 2200 && head <= 2720: // Mastercard, Mir
		return n == 16
	case two == 65 || two == 64 || head == 6011 || two == 62 || two == 81 || two == 82: // Discover, UnionPay, RuPay
		return n >= 16
	case two == 50 || two >= 56 && two <= 58 || two == 67 || head == 6304 || head == 6390 || head == 604: // Maestro
		return true
	case two == 60 || two == 63 || two == 69:
		return n >= 16
	}
	return false
}

// luhn checks the last digit.
func luhn(digits []byte) bool {
	sum := 0
	for i, c := range digits {
		d := int(c - '0')
		if (len(digits)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
