package schema

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// accepts reports whether text is one JSON value that n accepts. False means
// only that the full library must decide. It allocates nothing.
func (n *node) accepts(text string) bool {
	w := walker{s: text, fuel: 256}
	w.space()
	if !w.value(n) {
		return false
	}
	w.space()
	return w.i == len(text)
}

// walker reads JSON text once, from left to right. A part that several
// schemas apply to is read once for each.
type walker struct {
	s     string
	i     int
	depth int
	fuel  int // how often text may be read again; bounds what unions cost
}

const maxFastDepth = 256

func (w *walker) space() {
	for w.i < len(w.s) {
		switch w.s[w.i] {
		case ' ', '\n', '\t', '\r':
			w.i++
		default:
			return
		}
	}
}

// value reads one value. w stands on its first byte; after true it stands
// behind the last one, after false anywhere.
func (w *walker) value(n *node) bool {
	if w.i >= len(w.s) || n.pass {
		return false
	}
	if n.whole != nil {
		return w.all(n.whole)
	}
	if n.union != nil {
		return w.some(n)
	}
	switch c := w.s[w.i]; c {
	case '"':
		return n.types&typeString != 0 && w.text(n)
	case '{':
		return n.types&typeObject != 0 && w.object(n)
	case '[':
		return n.types&typeArray != 0 && w.array(n)
	case 't':
		return n.types&typeBoolean != 0 && w.literal("true") && (n.enum == nil || n.enum.yes)
	case 'f':
		return n.types&typeBoolean != 0 && w.literal("false") && (n.enum == nil || n.enum.no)
	case 'n':
		return n.types&typeNull != 0 && w.literal("null") && (n.enum == nil || n.enum.null)
	default:
		return n.types&(typeInteger|typeNumber) != 0 && w.number(n)
	}
}

func (w *walker) all(nodes []*node) bool {
	if w.depth++; w.depth > maxFastDepth {
		return false
	}
	defer w.up()
	start := w.i
	for i, n := range nodes {
		if i > 0 {
			if w.fuel--; w.fuel < 0 {
				return false
			}
			w.i = start
		}
		if !w.value(n) {
			return false
		}
	}
	return true
}

func (w *walker) some(n *node) bool {
	if w.depth++; w.depth > maxFastDepth {
		return false
	}
	defer w.up()
	t := typeStarting(w.s[w.i])
	start, depth := w.i, w.depth
	for _, branch := range n.union {
		if branch.resolved(0)&t == 0 {
			continue
		}
		if w.value(branch) {
			return true
		}
		if w.fuel--; w.fuel < 0 {
			return false
		}
		w.i, w.depth = start, depth
	}
	return false
}

func (w *walker) up() { w.depth-- }

// typeStarting is the type of the value that begins with c.
func typeStarting(c byte) typeSet {
	switch c {
	case '"':
		return typeString
	case '{':
		return typeObject
	case '[':
		return typeArray
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	return typeInteger | typeNumber
}

func (w *walker) literal(word string) bool {
	if !strings.HasPrefix(w.s[w.i:], word) {
		return false
	}
	w.i += len(word)
	return true
}

func (w *walker) object(n *node) bool {
	if n.enum != nil {
		return false
	}
	if w.depth++; w.depth > maxFastDepth {
		return false
	}
	var (
		seen   uint64
		others [16]string
		nother int
		count  int
		next   int // the property that most likely follows
	)
	w.i++
	w.space()
	if w.i < len(w.s) && w.s[w.i] == '}' {
		w.i++
		w.depth--
		return n.required == 0 && n.minMembers == 0
	}
	for {
		at := -1
		if next < len(n.props) && strings.HasPrefix(w.s[w.i:], n.props[next].quoted) {
			at = next
			w.i += len(n.props[next].quoted)
		} else {
			name, ok := w.name()
			if !ok {
				return false
			}
			if at = n.find(name); at < 0 {
				if n.extra == nil || nother == len(others) {
					return false
				}
				if n.cased && n.misspelled(name) {
					return false
				}
				if slices.Contains(others[:nother], name) {
					return false
				}
				others[nother] = name
				nother++
			}
		}
		sub := n.extra
		if at >= 0 {
			if seen&(1<<at) != 0 {
				return false
			}
			seen |= 1 << at
			sub = n.props[at].node
			next = at + 1
		}
		w.space()
		if w.i >= len(w.s) || w.s[w.i] != ':' {
			return false
		}
		w.i++
		w.space()
		if !w.value(sub) {
			return false
		}
		count++
		w.space()
		if w.i >= len(w.s) {
			return false
		}
		c := w.s[w.i]
		w.i++
		if c == '}' {
			break
		}
		if c != ',' {
			return false
		}
		w.space()
	}
	w.depth--
	return seen&n.required == n.required && count >= n.minMembers && (n.maxNames < 0 || count <= n.maxNames)
}

// name reads a member's name that has no escapes.
func (w *walker) name() (string, bool) {
	if w.i >= len(w.s) || w.s[w.i] != '"' {
		return "", false
	}
	start := w.i + 1
	_, escaped, ok := w.scan()
	return w.s[start:max(start, w.i-1)], ok && !escaped
}

func (n *node) find(name string) int {
	if n.index != nil {
		if at, ok := n.index[name]; ok {
			return at
		}
		return -1
	}
	for i := range n.props {
		if n.props[i].name == name {
			return i
		}
	}
	return -1
}

func (n *node) misspelled(name string) bool {
	for i := range n.props {
		if strings.EqualFold(n.props[i].name, name) {
			return true
		}
	}
	return false
}

func (w *walker) array(n *node) bool {
	if n.enum != nil {
		return false
	}
	if w.depth++; w.depth > maxFastDepth {
		return false
	}
	w.i++
	w.space()
	if w.i < len(w.s) && w.s[w.i] == ']' {
		w.i++
		w.depth--
		return n.minItems == 0
	}
	count := 0
	for {
		sub := n.items
		if count < len(n.prefix) {
			sub = n.prefix[count]
		}
		if sub == nil || !w.value(sub) {
			return false
		}
		count++
		w.space()
		if w.i >= len(w.s) {
			return false
		}
		c := w.s[w.i]
		w.i++
		if c == ']' {
			break
		}
		if c != ',' {
			return false
		}
		w.space()
	}
	w.depth--
	return count >= n.minItems && (n.maxItems < 0 || count <= n.maxItems)
}

func (w *walker) text(n *node) bool {
	start := w.i + 1
	count, escaped, ok := w.scan()
	if !ok || count < n.minLength || n.maxLength >= 0 && count > n.maxLength {
		return false
	}
	if n.enum == nil && n.pattern == nil {
		return true
	}
	if escaped {
		return false
	}
	s := w.s[start : w.i-1]
	return (n.enum == nil || n.enum.has(s)) && (n.pattern == nil || n.pattern.MatchString(s))
}

func (e *enum) has(s string) bool {
	if e.index != nil {
		return e.index[s]
	}
	return slices.Contains(e.texts, s)
}

// scan reads a string and counts its characters, eight bytes at a time where
// they are plain.
func (w *walker) scan() (count int, escaped, ok bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	s, i := w.s, w.i+1
	start, beyond := i, 0 // beyond: bytes that are not characters of their own
	for {
		for i+8 <= len(s) {
			x := load(s, i)
			// A byte's high bit is set here if it is a quote, a backslash, a
			// control character or not ASCII; below the first such byte none is.
			m := (((x ^ 0x22*ones) - ones) | ((x ^ 0x5c*ones) - ones) | (x - 0x20*ones) | x) & highs
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(s) {
			return 0, false, false
		}
		switch c := s[i]; {
		case c == '"':
			w.i = i + 1
			return i - start - beyond, escaped, true
		case c == '\\':
			n := escape(s, i)
			if n == 0 {
				return 0, false, false
			}
			escaped = true
			i += n
			beyond += n - 1
		case c < 0x20:
			return 0, false, false
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return 0, false, false
			}
			i += n
			beyond += n - 1
		}
	}
}

func load(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// escape is the length of the escape at s[i], 0 if it is bad or one half of a
// surrogate pair.
func escape(s string, i int) int {
	if i+1 >= len(s) {
		return 0
	}
	switch s[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if i+6 > len(s) {
			return 0
		}
		for _, c := range []byte(s[i+2 : i+6]) {
			digit, letter := '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'f'
			if !digit && !letter {
				return 0
			}
		}
		if s[i+2]|0x20 == 'd' && s[i+3]|0x20 >= '8' {
			return 0
		}
		return 6
	}
	return 0
}

func (w *walker) number(n *node) bool {
	start := w.i
	whole, ok := w.digits()
	if !ok {
		return false
	}
	if whole && n.number == nil && n.enum == nil && w.i-start <= maxNumberChars {
		return true // any whole number: the type was looked at before
	}
	return n.number.accepts(w.s[start:w.i], n)
}

// digits reads a number; whole is whether it has neither point nor exponent.
func (w *walker) digits() (whole, ok bool) {
	s, i := w.s, w.i
	if i < len(s) && s[i] == '-' {
		i++
	}
	first := i
	i = digitsFrom(s, i)
	if i == first || s[first] == '0' && i > first+1 {
		return false, false
	}
	whole = true
	if i < len(s) && s[i] == '.' {
		whole = false
		from := i + 1
		if i = digitsFrom(s, from); i == from {
			return false, false
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		whole = false
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from := i
		if i = digitsFrom(s, from); i == from {
			return false, false
		}
	}
	w.i = i
	return whole, true
}

func digitsFrom(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// accepts is the slower half: bounds, listed numbers, fractions.
func (b *numberBounds) accepts(text string, n *node) bool {
	d, ok := parseDecimal(text)
	if !ok {
		return false
	}
	if n.types&typeNumber == 0 && !d.isInteger() {
		return false
	}
	if n.enum != nil && !n.enum.hasNumber(d) {
		return false
	}
	if b == nil {
		return true
	}
	return d.within(b.minimum, 0, 1) && d.within(b.above, 1, 1) && d.within(b.maximum, -1, 0) && d.within(b.below, -1, -1) && d.divides(b.multipleOf)
}

func (e *enum) hasNumber(d decimal) bool {
	for _, listed := range e.numbers {
		if c, ok := d.compare(listed); ok && c == 0 {
			return true
		}
	}
	return false
}

// within reports whether comparing d with bound gives from to to.
func (d decimal) within(bound *decimal, from, to int) bool {
	if bound == nil {
		return true
	}
	c, ok := d.compare(*bound)
	return ok && from <= c && c <= to
}

func (d decimal) divides(by *decimal) bool {
	if by == nil {
		return true
	}
	yes, ok := d.multipleOf(*by)
	return ok && yes
}
