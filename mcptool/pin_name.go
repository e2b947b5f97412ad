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
	bare    bool              // its tools have bare names
	others  map[string]string // what tools of other sources are called, by likeness
	from    map[string]string // whose they are, by name
	sources map[string]string // other sources, by likeness
	house   map[string]string
}

// lookalikes looks at all tools there are.
func (s *server) lookalikes() *lookalikes {
	l := &lookalikes{
		server: s.Name, bare: s.Unprefixed || s.hub.Runtime.Collisions != ferrule.Prefix,
		others: make(map[string]string), sources: make(map[string]string), from: make(map[string]string), house: make(map[string]string),
	}
	for t := range s.hub.Runtime.All() {
		if t.Source.Name != s.Name {
			l.others[likeness(t.Name)] = t.Name
			if t.Source.Name != "" {
				l.from[t.Name] = t.Source.Name
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
	l.pinned(s.hub, others)
	for _, name := range houseNames() {
		l.house[likeness(name)] = name
	}
	return l
}

// pinned adds the tools of servers that are not connected to now, as they are pinned:
// who looks at one server alone is to see whose names it imitates. What cannot be read
// is told of where its own server is.
func (l *lookalikes) pinned(h *Hub, servers []string) {
	if h.Pins == "" {
		return
	}
	files, err := (&Pins{Dir: h.Pins}).files()
	if err != nil {
		return
	}
	known := map[string]bool{l.server: true}
	for _, from := range l.from {
		known[from] = true // it is connected to
	}
	for _, f := range files { // the last used of each first
		if known[f.server] || !slices.Contains(servers, f.server) {
			continue
		}
		known[f.server] = true
		kept, _, err := readPins(f.path)
		if err != nil {
			continue
		}
		other := lookalikes{server: f.server, bare: h.bare(f.server)}
		for i := range kept.Tools {
			e := &kept.Tools[i]
			if e.Accepted == nil || e.Gone || kept.leftOut(e.Tool) != "" {
				continue // nobody is offered it
			}
			name := other.visible(e.Tool)
			if like := likeness(name); l.others[like] == "" {
				l.others[like], l.from[name] = name, f.server
			}
		}
	}
}

// bare reports whether the tools of a server have bare names.
func (h *Hub) bare(server string) bool {
	return h.Runtime.Collisions != ferrule.Prefix || slices.Contains(h.OthersBare, server) ||
		slices.ContainsFunc(h.Servers, func(s Server) bool { return s.Name == server && s.Unprefixed })
}

// of says what a name imitates; "": nothing. Tools of one server are not compared:
// both names are its own, and it gains nothing by one that is like the other.
func (l *lookalikes) of(name string) string {
	words := strings.Split(name, "__")
	last := len(words) - 1
	for _, word := range []string{name, words[last]} {
		if house, ok := l.house[likeness(word)]; ok {
			return fmt.Sprintf("its name imitates %s, a tool of Ferrule's own", house)
		}
	}
	for _, word := range words[:last] { // as server__tool is made, and mcp__server__tool by clients
		like := likeness(word)
		if other, ok := l.sources[like]; ok {
			return fmt.Sprintf("its name begins as those of server %s do (%s__)", other, other)
		}
		if reserved := l.reserved(like); reserved != "" {
			return fmt.Sprintf("its name begins as names do that programs make (%s__)", reserved)
		}
	}
	seen := l.visible(name)
	other := l.others[likeness(seen)]
	if other == "" || other == seen {
		return ""
	}
	text := fmt.Sprintf("its name (%s) looks like that of another tool: %s", seen, other)
	if from := l.from[other]; from != "" {
		text += " of server " + from // it may be the one that imitates, and was only faster
	}
	return text
}

// reserved is a beginning of names that clients, or this program, make, if this is what
// it looks like; "": it is not. A server that is called so may begin its names so.
func (l *lookalikes) reserved(like string) string {
	for _, word := range []string{"mcp", "ferrule"} {
		if like == likeness(word) && like != likeness(l.server) {
			return word
		}
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
