package policy

import (
	"errors"
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
//	db.drop                              a tool by its own name, as models have none with a dot
//	source:github                        tools of a source
//	tag:files                            tools with a tag
//	shell(git status*)                   calls that run such commands
//	fs_write(path: src/**)               calls about files below src
//	fetch(host: *.example.com)           calls to such hosts
//	shell(go test*, path: "a, b/**")     more than one; what has , ( ) or " is quoted
//	send(args: 5Hq…)                     calls with exactly these arguments
//
// A * stands for any characters of a name, not of a tag; in a command for those of a word, and
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

// ParseRule reads a rule. Paths that are not absolute are below workspace. What
// is wrong with the text is a *RuleError.
func ParseRule(text, workspace string) (Rule, error) {
	at := func(bytes int, format string, args ...any) error {
		return &RuleError{utf8.RuneCountInString(text[:bytes]) + 1, fmt.Sprintf(format, args...)}
	}
	for i, c := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 {
			return Rule{}, at(i, "got bytes that are not UTF-8")
		}
		if unicode.IsControl(c) {
			return Rule{}, at(i, "got the control character %q", c)
		}
	}
	names, _, parens := strings.Cut(text, "(")
	start := len(names) - len(strings.TrimLeft(names, " "))
	r := Rule{over: "name", glob: strings.Trim(names, " ")}
	if kind, name, ok := strings.Cut(r.glob, ":"); ok {
		if kind != "source" && kind != "tag" {
			return Rule{}, at(start, "got %q, want the name of a tool, source:name or tag:name", kind+":")
		}
		r.over, r.glob = kind, strings.TrimLeft(name, " ")
		start += len(kind) + 1 + len(name) - len(r.glob)
	}
	if r.glob == "" {
		return Rule{}, at(start, "got nothing, want the name of a tool, source:name or tag:name")
	}
	for i, c := range r.glob {
		switch {
		case r.over == "tag" && c == '*':
			return Rule{}, at(start+i, "got %q in a tag, want the whole of it", c)
		case r.over == "tag" && (c == ')' || c == '"'):
			return Rule{}, at(start+i, "got %q in a tag, want a word without it", c)
		case r.over != "tag" && !nameRune(c):
			return Rule{}, at(start+i, "got %q in a name, want letters, digits, _ . - and *", c)
		}
	}
	if !parens {
		return r, nil
	}
	var err error
	if r.calls, err = parsePatterns(text, len(names)+1, workspace, at); err != nil {
		return Rule{}, err
	}
	return r, nil
}

// nameRune reports whether the name of a tool or a source may have c in it, or
// the pattern of one. Tags are the host's own words.
func nameRune(c rune) bool {
	return c == '*' || c == '_' || c == '.' || c == '-' || c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

// parsePatterns reads what stands in parentheses: from offset to the end.
func parsePatterns(text string, offset int, workspace string, at func(int, string, ...any) error) ([]pattern, error) {
	var list []pattern
	for {
		end, err := endOfPart(text, offset)
		if err != nil {
			return nil, at(end, "%s", err)
		}
		part := strings.TrimLeft(text[offset:end], " ")
		offset = end - len(part)
		p, within, err := parsePattern(strings.TrimSpace(part), workspace)
		if err != nil {
			return nil, at(offset+within, "%s", err)
		}
		list = append(list, p)
		offset = end + 1
		if text[end] == ')' {
			if rest := strings.Trim(text[offset:], " "); rest != "" {
				return nil, at(strings.Index(text[offset:], rest)+offset, "got %q behind the closing parenthesis, want nothing", rest)
			}
			return list, nil
		}
	}
}

// endOfPart is where a pattern ends: at a comma or the closing parenthesis, but
// not within quotes. Where it fails, it is where the fault is.
func endOfPart(text string, from int) (int, error) {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"':
			q, err := strconv.QuotedPrefix(text[i:])
			if err != nil {
				return i, errors.New(`got a quote that does not end, or has an escape that is none, want it as in "a, b"`)
			}
			i += len(q) - 1
		case ',', ')':
			return i, nil
		case '(':
			return i, errors.New(`got "(" within parentheses, want it quoted, as in "a (b)"`)
		}
	}
	return len(text), errors.New("got no closing parenthesis, want one")
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

// namesOne reports whether the rule is for every call of one tool, by its name.
func (r Rule) namesOne() bool {
	return r.over == "name" && !strings.Contains(r.glob, "*") && len(r.calls) == 0
}

// Over is what the rule chooses tools by: name, source or tag; and the glob.
func (r Rule) Over() (what, glob string) { return r.over, r.glob }

// Chooses reports whether the rule is about the tool of a request. A name is
// that which models use, or the tool's own, with its source in front and dots
// and all; see [tool.Request.OwnName].
func (r Rule) Chooses(q *tool.Request) bool {
	switch r.over {
	case "name":
		return glob(r.glob, q.Name) || glob(r.glob, q.OwnName())
	case "source":
		return glob(r.glob, q.Source.Name)
	case "tag":
		return q.Tool != nil && slices.Contains(q.Tool.Tags, r.glob)
	}
	return false
}

// surely reports whether no other tool can pass for the one that is meant: by
// its own name only where that can be nobody's name for models.
func (r Rule) surely(q *tool.Request) bool {
	return r.over != "name" || glob(r.glob, q.Name) || r.OwnOnly() && !strings.HasSuffix(q.Source.Name, "_")
}

// OwnOnly reports whether the rule names what models have no name for: with a
// dot, or longer than their names are. Only such a rule that allows goes by a
// tool's own name, and not where the name of the source ends in _, which leaves
// open where that ends.
func (r Rule) OwnOnly() bool {
	const longest = 64 // of the names for models
	return r.over == "name" && (strings.Contains(r.glob, ".") || len(strings.ReplaceAll(r.glob, "*", "")) > longest)
}

// Covers reports whether a rule that allows fits a call: each thing that the
// call is about fits a pattern, and there is one of each kind that has a
// pattern. What is not known does not fit, and a call that is about something of
// which the rule says nothing is not covered, unless the rule names its very
// arguments.
func (r Rule) Covers(q *tool.Request) bool {
	if !r.Chooses(q) || !r.surely(q) {
		return false
	}
	if len(r.calls) == 0 {
		return true
	}
	if r.names(kindArgs) && !r.coversOne(kindArgs, value{text: argsDigest(q)}) {
		return false
	}
	if !r.names(kindCommand) && !r.names(kindPath) && !r.names(kindHost) {
		return true // the arguments alone
	}
	a := aboutOf(q)
	for k := range kindArgs {
		if !r.names(k) {
			if a.states(k) {
				return false
			}
			continue
		}
		some := false
		for v := range a.each(k) {
			if some = true; !r.coversOne(k, v) {
				return false
			}
		}
		if !some || !a.knows(k) {
			return false
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
	a := aboutOf(q)
	for _, p := range r.calls {
		if p.kind == kindArgs {
			if p.text == argsDigest(q) {
				return true
			}
			continue
		}
		if !a.knows(p.kind) {
			return true
		}
		for v := range a.each(p.kind) {
			if p.meets(v) {
				return true
			}
		}
	}
	return false
}

func (r Rule) names(k kind) bool {
	return slices.ContainsFunc(r.calls, func(p pattern) bool { return p.kind == k })
}

func (r Rule) coversOne(k kind, v value) bool {
	for _, p := range r.calls {
		if p.kind == k && p.covers(v) {
			return true
		}
	}
	return false
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
		if err != nil || !r.narrow() || !r.Covers(q) {
			continue
		}
		text := r.String()
		same, err := ParseRule(text, "") // who reads it later must read the same
		if err != nil || same.String() != text || !same.Covers(q) || slices.Contains(list, text) ||
			len(text) > maxOffer || len(list) > maxOffers || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) }) {
			continue
		}
		list = append(list, text)
	}
	if !q.Claims.Destructive() {
		list = append(list, q.Name)
	}
	return list
}

// maxOffers is how many rules of a tool's Scopes are offered, maxOffer how long
// each may be: a person must read them.
const maxOffers, maxOffer = 8, 300

// narrow reports whether each pattern of the rule has a word of its own.
func (r Rule) narrow() bool {
	return len(r.calls) > 0 && !slices.ContainsFunc(r.calls, func(p pattern) bool {
		text := p.text
		if p.kind == kindPath && len(text) > 3 && onDrive(text[1:]) {
			text = text[3:]
		}
		return strings.Trim(text, "*/ .") == ""
	})
}
