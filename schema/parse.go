package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// limits bound what is read into a tree.
type limits struct {
	bytes      int
	depth      int
	values     int
	name       int  // bytes of a member's name; 0 is any number
	duplicates bool // repeated names are accepted, the last one wins
}

// A number outside these bounds would be expanded by exact arithmetic into
// more digits than any machine holds: 1e100000000 is eleven bytes long.
const (
	maxNumberChars    = 1000
	maxNumberExponent = 1000
)

// parse reads one JSON text and nothing after it.
func parse(text string, lim limits) (*value, error) {
	if len(text) > lim.bytes {
		return nil, &SyntaxError{Offset: lim.bytes, Reason: fmt.Sprintf("got %d bytes, want at most %d", len(text), lim.bytes)}
	}
	p := parser{text: text, lim: lim, dec: jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(lim.duplicates))}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if rest := strings.TrimLeft(text[p.dec.InputOffset():], " \t\r\n"); rest != "" {
		return nil, place(text, len(text)-len(rest), "", "text after the JSON value")
	}
	return v, nil
}

type parser struct {
	text  string
	lim   limits
	count int
	dec   *jsontext.Decoder
}

func (p *parser) value(depth int) (*value, error) {
	if p.count++; p.count > p.lim.values {
		return nil, p.refuse("more than %d values", p.lim.values)
	}
	if depth > p.lim.depth {
		return nil, p.refuse("nested more than %d deep", p.lim.depth)
	}
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, p.fail(err)
	}
	v := &value{kind: tok.Kind()}
	switch v.kind {
	case '"':
		v.text = tok.String()
	case '0':
		v.text = tok.String()
		if !boundedNumber(v.text) {
			return nil, p.refuse("number %s is out of bounds: want at most %d characters and an exponent within ±%d", clip(v.text, 24), maxNumberChars, maxNumberExponent)
		}
	case '[':
		for p.dec.PeekKind() != ']' {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, err = p.dec.ReadToken()
	case '{':
		at := map[string]int{} // of members, where one may replace another
		for p.dec.PeekKind() != '}' {
			name, err := p.dec.ReadToken()
			if err != nil {
				return nil, p.fail(err)
			}
			key := name.String()
			if p.lim.name > 0 && len(key) > p.lim.name {
				return nil, p.refuse("a name of %d bytes, want at most %d", len(key), p.lim.name)
			}
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			if i, twice := at[key]; twice {
				v.members[i].value = item
				continue
			}
			if p.lim.duplicates {
				at[key] = len(v.members)
			}
			v.members = append(v.members, member{key, item})
		}
		_, err = p.dec.ReadToken()
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return v, nil
}

func (p *parser) refuse(format string, args ...any) error {
	return place(p.text, int(p.dec.InputOffset()), string(p.dec.StackPointer()), fmt.Sprintf(format, args...))
}

func (p *parser) fail(err error) error { return syntaxError(p.text, err) }

// boundedNumber reports whether exact arithmetic on a JSON number is cheap.
func boundedNumber(text string) bool {
	if len(text) > maxNumberChars {
		return false
	}
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return true
	}
	exp, err := strconv.Atoi(text[i+1:])
	return err == nil && -maxNumberExponent <= exp && exp <= maxNumberExponent
}
