package redact

// Personal says which personal data is looked for. Zero: none.
type Personal uint8

// What has a form that it can be known by.
const (
	Email Personal = 1 << iota // e-mail addresses
	Phone                      // telephone numbers, where their form or a word before them says so
	Card                       // payment cards: an issuer's length, and the check digit
	IBAN                       // account numbers: a country's length, and the check digits
	SSN                        // US social security and taxpayer numbers
	IP                         // IP addresses, but for loopback, unspecified and netmasks

	AllPersonal = Email | Phone | Card | IBAN | SSN | IP
)

// Spans finds personal data in a text: no two overlap, and they are in order. Kinds
// are email, phone, card, iban, ssn and ip. It takes linear time, and allocates
// nothing where nothing is found.
func (p Personal) Spans(text string) []Span { return p.spans(nil, text) }

func (p Personal) spans(found []Span, text string) []Span {
	if p == 0 {
		return found
	}
	done := 0 // what is before is decided
	var buf [maxGroups]group
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isDigit(c):
			s, next := p.number(text, i, done, buf[:0])
			if s.Kind != "" {
				found = append(found, s)
				done = s.End
			}
			i = next - 1
		case c == '@' && p&Email != 0:
			if s, ok := emailAt(text, i, done); ok {
				found = replaceFrom(found, s)
				done, i = s.End, s.End-1
			}
		case c == ':' && p&IP != 0:
			if s, ok := ip6At(text, i, done); ok {
				found = replaceFrom(found, s)
				done, i = s.End, s.End-1
			}
		}
	}
	return found
}

// replaceFrom adds a span that was found from its middle: what was taken for
// something else in its first half gives way.
func replaceFrom(found []Span, s Span) []Span {
	for len(found) > 0 && found[len(found)-1].End > s.Start {
		found = found[:len(found)-1]
	}
	return append(found, s)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWord(c byte) bool { return isDigit(c) || isLetter(c) || c == '_' }

// standsAlone reports whether text[from:to] is no part of a longer word, number,
// version or name with hyphens.
func standsAlone(text string, from, to int) bool {
	if from > 0 {
		c := text[from-1]
		if isWord(c) || (c == '.' || c == '-') && from > 1 && isWord(text[from-2]) {
			return false
		}
	}
	if to < len(text) {
		c := text[to]
		if isWord(c) || (c == '.' || c == '-') && to+1 < len(text) && isWord(text[to+1]) {
			return c == '.' && isLetter(text[to+1]) && isSentence(text[to+1:])
		}
	}
	return true
}

// isSentence reports whether what follows a full stop is a word of its own, as
// where the space is missing, and no ending of a name.
func isSentence(text string) bool { return text[0] >= 'A' && text[0] <= 'Z' }

// said reports whether one of the words, in small letters, stands shortly before a
// place, on the same line. A word in a placeholder does not count.
func said(text string, at int, words ...string) bool {
	const near = 32
	before := text[max(0, at-near):at]
	for i := 0; i < len(before); i++ {
		if before[i] == '\n' {
			before, i = before[i+1:], -1
		}
	}
	for i := range len(before) {
		if !isLetter(before[i]) || i > 0 && (isLetter(before[i-1]) || before[i-1] == ':') {
			continue
		}
		for _, w := range words {
			if len(before)-i >= len(w) && lowerIs(before[i:i+len(w)], w) && (i+len(w) == len(before) || !isLetter(before[i+len(w)])) {
				return true
			}
		}
	}
	return false
}

func lowerIs(text, word string) bool {
	for i := range len(word) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
