package mcptool

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrule-dev/ferrule"
	"github.com/ferrule-dev/ferrule/tool"
)

// houseNames are tools that clients trust to be the gateway's own.
func houseNames() []string {
	return []string{"tool_call", "tool_search", "tool_describe", "read_result"}
}

// likeness is what a name looks like: names that a person, or a model, may take for
// each other have the same. Case, what stands between words, and letters that are
// drawn alike count as nothing.
func likeness(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r = alike(unicode.ToLower(r)); unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "rn", "m"), "vv", "w")
}

// alike is the letter that a small one is drawn like. Names of tools have Latin
// letters only; others are here so that who writes them anyway is found out.
func alike(r rune) rune {
	if 0xFF01 <= r && r <= 0xFF5E { // of full width
		r = unicode.ToLower(r - 0xFEE0)
	}
	switch r {
	case '1', 'i', '|', 'ı', 'і', 'ї', 'ι', 'ӏ':
		return 'l'
	case '0', 'ο', 'о', 'σ':
		return 'o'
	case 'а', 'α':
		return 'a'
	case 'в', 'β', 'ь':
		return 'b'
	case 'с', 'ϲ':
		return 'c'
	case 'ԁ':
		return 'd'
	case 'е', 'ё', 'ε':
		return 'e'
	case 'ɡ':
		return 'g'
	case 'н', 'һ':
		return 'h'
	case 'ј':
		return 'j'
	case 'к', 'κ':
		return 'k'
	case 'м':
		return 'm'
	case 'η':
		return 'n'
	case 'р', 'ρ':
		return 'p'
	case 'ԛ':
		return 'q'
	case 'ѕ':
		return 's'
	case 'т', 'τ':
		return 't'
	case 'υ':
		return 'u'
	case 'ν', 'ѵ':
		return 'v'
	case 'ԝ', 'ω':
		return 'w'
	case 'х', 'χ':
		return 'x'
	case 'у', 'γ':
		return 'y'
	}
	return r
}

// lookalikes knows what names there are, for one server.
type lookalikes struct {
	server  string
	bare    bool                // its tools have bare names
	others  map[string]string   // what tools of other sources are called, by likeness
	sources map[string]string   // other sources, by likeness
	own     map[string][]string // its own names, those before others first, by likeness
	house   map[string]string
}

// lookalikes looks at all tools there are. names are the server's own in their
// order; those that are accepted come first.
func (s *server) lookalikes(names []string, accepted func(string) bool) *lookalikes {
	l := &lookalikes{
		server: s.Name, bare: s.Unprefixed || s.hub.Runtime.Collisions != ferrule.Prefix,
		others: make(map[string]string), sources: make(map[string]string), own: make(map[string][]string), house: make(map[string]string),
	}
	for t := range s.hub.Runtime.All() {
		if t.Source.Name != s.Name {
			l.others[likeness(t.Name)] = t.Name
			if t.Source.Name != "" {
				l.sources[likeness(t.Source.Name)] = t.Source.Name
			}
		}
	}
	others := slices.Clone(s.hub.Others)
	for i := range s.hub.Servers {
		others = append(others, s.hub.Servers[i].Name)
	}
	for _, other := range others {
		if other != s.Name {
			l.sources[likeness(other)] = other
		}
	}
	for _, name := range houseNames() {
		l.house[likeness(name)] = name
	}
	for _, first := range []bool{true, false} {
		for _, name := range names {
			if accepted(name) == first {
				l.own[likeness(name)] = append(l.own[likeness(name)], name)
			}
		}
	}
	return l
}

// of says what a name imitates; "": nothing.
func (l *lookalikes) of(name string) string {
	like := likeness(name)
	if house, ok := l.house[like]; ok {
		return fmt.Sprintf("its name imitates %s, a tool of Ferrule's own", house)
	}
	if prefix, _, ok := strings.Cut(name, "__"); ok {
		if other, ok := l.sources[likeness(prefix)]; ok {
			return fmt.Sprintf("its name begins as those of server %s do (%s__)", other, other)
		}
	}
	if same := l.own[like]; len(same) > 0 && same[0] != name {
		return fmt.Sprintf("its name looks like that of %s, another tool of the server", same[0])
	}
	if seen := l.visible(name); l.others[likeness(seen)] != "" && l.others[likeness(seen)] != seen {
		return fmt.Sprintf("its name (%s) looks like that of another tool: %s", seen, l.others[likeness(seen)])
	}
	return ""
}

// visible is what models call a tool of the server.
func (l *lookalikes) visible(name string) string {
	if l.bare && !strings.Contains(name, "__") {
		return tool.WireName("", name)
	}
	return tool.WireName(l.server, name)
}

// similar reports whether a name may be another one that was changed a little: one
// begins or ends as the other does, for half of it or more, or they look alike.
func similar(a, b string) bool {
	x, y := likeness(a), likeness(b)
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	return 2*(head+tail) >= max(len(x), len(y))
}
