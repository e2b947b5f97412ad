package schema

import (
	"slices"
	"strings"
)

// accepts reports whether text is one JSON value that n accepts, and not nested
// deeper than depth, 0 being any. False means only that the full library must
// decide. It allocates nothing.
func (n *node) accepts(text string, depth int) bool {
	if depth == 0 {
		depth = maxFastDepth
	}
	w := walker{s: text, levels: min(depth, maxFastDepth), fuel: 8*len(text) + 4096}
	w.space()
	if !w.value(n) {
		return false
	}
	w.space()
	return w.i == len(text)
}

const maxFastDepth = 256

// value reads one value. w stands on its first byte; after true it stands
// behind the last one, after false anywhere.
func (w *walker) value(n *node) bool {
	if w.i >= len(w.s) || n.pass {
		return false
	}
	if n.gate != 0 && n.gate&typeStarting(w.s[w.i]) == 0 {
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
		if i > 0 && !w.again(start) {
			return false
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
	start, depth, levels := w.i, w.depth, w.levels
	for _, branch := range n.union {
		if branch.resolved(0)&t == 0 {
			continue
		}
		if w.value(branch) {
			return true
		}
		if !w.again(start) {
			return false
		}
		w.depth, w.levels = depth, levels
	}
	return false
}

func (w *walker) up() { w.depth-- }

// down enters an object or array; out leaves it.
func (w *walker) down() bool {
	w.levels--
	return w.levels >= 0
}

func (w *walker) out() { w.levels++ }

// again goes back to where a part began, as long as that keeps the whole
// linear in the length of the text.
func (w *walker) again(start int) bool {
	w.fuel -= w.i - start + 1
	w.i = start
	return w.fuel >= 0
}

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

func (w *walker) object(n *node) bool {
	if n.enum != nil || !w.down() {
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
		w.out()
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
				if n.cased != nil {
					if _, wrong := n.cased.wrong(name); wrong {
						return false
					}
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
		more, ok := w.more('}')
		if !ok {
			return false
		}
		if !more {
			break
		}
	}
	w.out()
	return seen&n.required == n.required && count >= n.minMembers && (n.maxNames < 0 || count <= n.maxNames)
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

func (w *walker) array(n *node) bool {
	if n.enum != nil || !w.down() {
		return false
	}
	w.i++
	w.space()
	if w.i < len(w.s) && w.s[w.i] == ']' {
		w.i++
		w.out()
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
		more, ok := w.more(']')
		if !ok {
			return false
		}
		if !more {
			break
		}
	}
	w.out()
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

func (w *walker) number(n *node) bool {
	start := w.i
	whole, ok := w.digits()
	if !ok || w.i-start > maxNumberChars {
		return false
	}
	if whole && n.number == nil && n.enum == nil {
		return true // any whole number: the type was looked at before
	}
	text := w.s[start:w.i]
	if whole && n.enum == nil && n.number.whole && len(text) <= maxDigits {
		x := plainInt(text)
		return n.number.least <= x && x <= n.number.most
	}
	return n.number.accepts(text, n)
}

// plainInt reads digits with or without a sign, so few that they fit.
func plainInt(text string) int64 {
	x, from := int64(0), 0
	if text[0] == '-' {
		from = 1
	}
	for i := from; i < len(text); i++ {
		x = x*10 + int64(text[i]-'0')
	}
	if from == 1 {
		return -x
	}
	return x
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
	if n.enum != nil && !n.enum.numbers[d] {
		return false
	}
	if b == nil {
		return true
	}
	return d.within(b.minimum, 0, 1) && d.within(b.above, 1, 1) && d.within(b.maximum, -1, 0) && d.within(b.below, -1, -1) && d.divides(b.multipleOf)
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
