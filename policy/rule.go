package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// Rule is one short rule: which tools, and which of their calls.
//
//	fs_read*                             tools whose name begins so
//	source:github                        tools of a source
//	tag:files                            tools with a tag
//	shell(git status*)                   calls that run such commands
//	fs_write(path: src/**)               calls about files below src
//	fetch(host: *.example.com)           calls to such hosts
//	shell(go test*, path: "a, b/**")     more than one; what has , ( ) or " is quoted
//	send(args: 5Hq…)                     calls with exactly these arguments
//
// A * stands for any characters of a name; in a command for those of a word, and
// at its end also for all words that follow; in a path for those of one part,
// and ** for any number of parts; in a host it stands first, for any number of
// names. What is compared are the tool's Facts and Touches, never text.
//
// The zero Rule fits no call.
type Rule struct {
	over  string // name, source or tag
	glob  string
	calls []pattern
}

// RuleError is what is wrong with the text of a rule, and where.
type RuleError struct {
	Column int // from 1, in characters
	Text   string
}

// Error says where and what.
func (e *RuleError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Text) }

// ParseRule reads a rule. Paths that are not absolute are below workspace.
func ParseRule(text, workspace string) (Rule, error) {
	at := func(bytes int, format string, args ...any) error {
		return &RuleError{utf8.RuneCountInString(text[:bytes]) + 1, fmt.Sprintf(format, args...)}
	}
	if !utf8.ValidString(text) {
		return Rule{}, &RuleError{1, "got bytes that are not UTF-8"}
	}
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		return Rule{}, at(i, "got the control character %q", []rune(text[i:])[0])
	}
	start := len(text) - len(strings.TrimLeft(text, " "))
	names, inside, parens := strings.Cut(text, "(")
	names = strings.TrimSpace(names)
	r := Rule{over: "name", glob: names}
	if kind, name, ok := strings.Cut(names, ":"); ok {
		if kind != "source" && kind != "tag" {
			return Rule{}, at(start, "got %q, want the name of a tool, source:name or tag:name", kind+":")
		}
		r.over, r.glob = kind, strings.TrimSpace(name)
		start += len(kind) + 1
	}
	if r.glob == "" {
		return Rule{}, at(start, "got nothing, want the name of a tool, source:name or tag:name")
	}
	if i := strings.IndexFunc(r.glob, func(c rune) bool { return !nameRune(c, r.over) }); i >= 0 {
		return Rule{}, at(start+i, "got %q in a name, want letters, digits, _ . - and *", []rune(r.glob[i:])[0])
	}
	if !parens {
		return r, nil
	}
	var err error
	r.calls, err = parsePatterns(text, strings.IndexByte(text, '(')+1, inside, workspace, at)
	if err != nil {
		return Rule{}, err
	}
	return r, nil
}

// nameRune reports whether a name may have c in it. Tags are the host's words.
func nameRune(c rune, over string) bool {
	return c == '*' || c == '_' || c == '.' || c == '-' || c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)) ||
		over == "tag" && c != '(' && c != ')' && c != '"'
}

// parsePatterns reads what stands in parentheses, which begins at offset.
func parsePatterns(text string, offset int, inside, workspace string, at func(int, string, ...any) error) ([]pattern, error) {
	var list []pattern
	for {
		part, quoted, rest, end, err := nextPart(inside)
		if err != nil {
			return nil, at(offset+end, "%s", err)
		}
		lead := len(part) - len(strings.TrimLeft(part, " "))
		p, err := parsePattern(strings.TrimSpace(part), quoted, workspace)
		if err != nil {
			return nil, at(min(offset+lead, len(text)), "%s", err)
		}
		list = append(list, p)
		offset += len(inside) - len(rest)
		if inside[end] == ')' {
			if strings.TrimSpace(rest) != "" {
				return nil, at(offset, "got %q behind the closing parenthesis", strings.TrimSpace(rest))
			}
			return list, nil
		}
		inside = rest
	}
}

// nextPart cuts the first pattern off: up to a comma or the closing parenthesis
// at end, but not within quotes.
func nextPart(s string) (part string, quoted bool, rest string, end int, err error) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			q, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return "", false, "", i, fmt.Errorf("got a quote that does not end")
			}
			i += len(q) - 1
			quoted = true
		case ',', ')':
			return s[:i], quoted, s[i+1:], i, nil
		case '(':
			return "", false, "", i, fmt.Errorf(`got "(" within parentheses: want it quoted, as in "a (b)"`)
		}
	}
	return "", false, "", len(s), fmt.Errorf("got no closing parenthesis")
}

// String is the rule as it can be read again, with absolute paths.
func (r Rule) String() string {
	if r.over == "" {
		return ""
	}
	text := r.glob
	if r.over != "name" {
		text = r.over + ":" + r.glob
	}
	if inside := r.Inside(); inside != "" {
		text += "(" + inside + ")"
	}
	return text
}

// Inside is what stands in the parentheses; "": nothing.
func (r Rule) Inside() string {
	var b strings.Builder
	for i, p := range r.calls {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// Over is what the rule chooses tools by: name, source or tag; and the glob.
func (r Rule) Over() (what, glob string) { return r.over, r.glob }

// Chooses reports whether the rule is about the tool of a request.
func (r Rule) Chooses(q *tool.Request) bool {
	switch r.over {
	case "name":
		return glob(r.glob, q.Name)
	case "source":
		return glob(r.glob, q.Source.Name)
	case "tag":
		return q.Tool != nil && slices.ContainsFunc(q.Tool.Tags, func(t string) bool { return glob(r.glob, t) })
	}
	return false
}

// Covers reports whether a rule that allows fits a call: each thing that the
// call is about fits a pattern, and there is one of each kind that has a
// pattern. What is not known does not fit.
func (r Rule) Covers(q *tool.Request) bool {
	if !r.Chooses(q) {
		return false
	}
	if len(r.calls) == 0 {
		return true
	}
	about := aboutOf(q)
	exact := true // only the arguments themselves are named
	for _, k := range kinds() {
		named := r.names(k)
		if k == kindArgs {
			if named && !r.coversEach(k, []string{argsDigest(q)}) {
				return false
			}
			continue
		}
		exact = exact && !named
		if named && (!about[k].known || len(about[k].list) == 0 || !r.coversEach(k, about[k].list)) {
			return false
		}
	}
	if exact {
		return true
	}
	for _, k := range kinds() {
		if k != kindArgs && !r.names(k) && len(about[k].stated) > 0 {
			return false // it is about something that the rule says nothing of
		}
	}
	return true
}

// Meets reports whether a rule that asks or denies fits a call: anything that it
// is about fits a pattern, or is not known.
func (r Rule) Meets(q *tool.Request) bool {
	if !r.Chooses(q) {
		return false
	}
	if len(r.calls) == 0 {
		return true
	}
	about := aboutOf(q)
	for _, p := range r.calls {
		if p.kind == kindArgs {
			if p.text == argsDigest(q) {
				return true
			}
			continue
		}
		if a := about[p.kind]; !a.known || slices.ContainsFunc(a.list, p.meets) {
			return true
		}
	}
	return false
}

func (r Rule) names(k kind) bool {
	return slices.ContainsFunc(r.calls, func(p pattern) bool { return p.kind == k })
}

func (r Rule) coversEach(k kind, list []string) bool {
	for _, v := range list {
		if !slices.ContainsFunc(r.calls, func(p pattern) bool { return p.kind == k && p.covers(v) }) {
			return false
		}
	}
	return true
}

// argsDigest names exact arguments.
func argsDigest(q *tool.Request) string { return Digest("args", q.Args.Canonical())[:22] }

// Offers are the rules that a yes to a call can be made to last as, narrowest
// first: for exactly these arguments; what the tool's Scopes say; for the tool,
// unless the call may destroy something. Scopes that do not cover the call, or
// that cover every call of the tool, are left out.
func Offers(q *tool.Request, scopes []string) []string {
	exact := Rule{over: "name", glob: q.Name, calls: []pattern{{kind: kindArgs, text: argsDigest(q)}}}
	list := []string{exact.String()}
	for _, inside := range scopes {
		r, err := ParseRule(q.Name+"("+inside+")", "")
		if err != nil || !r.narrow() || !r.Covers(q) || slices.Contains(list, r.String()) {
			continue
		}
		list = append(list, r.String())
	}
	if !q.Claims.Destructive() {
		list = append(list, q.Name)
	}
	return list
}

// narrow reports whether each pattern of the rule has a word of its own.
func (r Rule) narrow() bool {
	return len(r.calls) > 0 && !slices.ContainsFunc(r.calls, func(p pattern) bool { return strings.Trim(p.text, "*/ .") == "" })
}
