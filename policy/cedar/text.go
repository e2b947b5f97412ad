package cedar

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// Bounds of what is read, so that no text can exhaust the stack: what parses and
// evaluates Cedar goes into itself for each of these.
const (
	mostText      = 1 << 20
	mostNesting   = 100
	mostOperators = 1000    // and elements of lists, in one rule
	mostHas       = 1 << 12 // times that has makes of what stands before it, in one rule
	mostFaults    = 100     // of a file: nobody reads more
)

// token is a word of Cedar text and where it is.
type token struct {
	text         string
	offset       int
	line, column int
}

// tokens takes text apart as Cedar does. The last one is empty: the end; or it is
// the beginning of a comment that does not end.
func tokens(text string) []token {
	var all []token
	line, column, i := 1, 1, 0
	pass := func(end int) { // to there
		for _, c := range text[i:end] {
			if column++; c == '\n' {
				line, column = line+1, 1
			}
		}
		i = end
	}
	for i < len(text) {
		c, size := utf8.DecodeRuneInString(text[i:])
		end, word := i+size, true
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			word = false
		case strings.HasPrefix(text[i:], "//"):
			end, word = until(text, i, "\n"), false
		case strings.HasPrefix(text[i:], "/*"):
			if end, word = until(text, i+2, "*/"), false; !strings.HasSuffix(text[i+2:end], "*/") {
				return append(all, token{text[i:end], i, line, column})
			}
		case c == '"':
			end = endOfString(text, i)
		case wordRune(c):
			if end = len(text); strings.IndexFunc(text[i:], notWordRune) >= 0 {
				end = i + strings.IndexFunc(text[i:], notWordRune)
			}
		case end < len(text) && slices.Contains(pairs(), text[i:end+1]):
			end++
		}
		if word {
			all = append(all, token{text[i:end], i, line, column})
		}
		pass(end)
	}
	return append(all, token{"", i, line, column})
}

func pairs() []string { return []string{"::", "!=", "<=", ">=", "==", "||", "&&"} }

func wordRune(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

func notWordRune(c rune) bool { return !wordRune(c) }

// until is behind the next end, or the end of the text.
func until(text string, from int, end string) int {
	if n := strings.Index(text[from:], end); n >= 0 {
		return from + n + len(end)
	}
	return len(text)
}

// endOfString is where a text that begins with a quote ends: behind the other
// quote, or with its line.
func endOfString(text string, from int) int {
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\n':
			return i
		case '\\':
			i++
		}
	}
	return len(text)
}

// parsed is one rule as it was written.
type parsed struct {
	*ast.Policy
	tokens []token
}

// parse reads the rules of a file; what is wrong with one says nothing of others.
func parse(f File) (all []parsed, faults []error) {
	if len(f.Text) > mostText {
		return nil, []error{&Error{f.Name, 1, 1, fmt.Sprintf("got %d bytes, want at most %d", len(f.Text), mostText)}}
	}
	if i := unreadable(f.Text); i >= 0 {
		last := f.Text[:i][strings.LastIndexByte(f.Text[:i], '\n')+1:]
		at := token{line: strings.Count(f.Text[:i], "\n") + 1, column: utf8.RuneCountInString(last) + 1}
		return nil, []error{at.fault(f, "got %q, want UTF-8 without NUL", f.Text[i:i+1])}
	}
	f.Text = strings.TrimPrefix(f.Text, "\ufeff") // some editors begin with it
	list := tokens(f.Text)
	if end := list[len(list)-1]; end.text != "" {
		return nil, []error{end.fault(f, "got a comment that does not end, want */ behind it")}
	}
	for len(list) > 1 && len(faults) < mostFaults {
		n, deep := endOfRule(list)
		if deep != nil {
			return all, append(faults, deep.fault(f, "got a rule that is nested deeper, or has more operators and elements, than can be read; want at most %d and %d, and few has with dots", mostNesting, mostOperators))
		}
		p, err := parseOne(f, list[:n], list[n])
		if err != nil {
			faults = append(faults, err)
		} else {
			all = append(all, parsed{p, list[:n]})
		}
		list = list[n:]
	}
	return all, faults
}

// unreadable is where text has NUL in it or is not UTF-8, else -1.
func unreadable(text string) int {
	for i, c := range text {
		if c == 0 || c == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// endOfRule is how many tokens the first rule has: up to a ; that is in no
// parentheses. deep is where it has too much in it.
func endOfRule(list []token) (n int, deep *token) {
	depth, operators, has := 0, 0, 1
	for i, t := range list[:len(list)-1] {
		switch t.text {
		case "(", "{":
			depth++
		case ")", "}", "]":
			depth--
		case "[":
			depth++
			operators++
		case ".", "!", "-", "+", "*", "&&", "||", "if", ",":
			operators++
		case "has":
			has *= segments(list[i+1:])
		case ";":
			if depth <= 0 {
				return i + 1, nil
			}
		}
		if depth > mostNesting || operators > mostOperators || has > mostHas {
			return i, &list[i]
		}
	}
	return len(list) - 1, nil
}

// segments is how many names with dots between them list begins with. Cedar
// repeats what stands before has for each.
func segments(list []token) int {
	n := 1
	for i := 1; i+1 < len(list) && list[i].text == "." && n < mostHas; i += 2 {
		n++
	}
	return n
}

func (t token) fault(f File, format string, args ...any) error {
	return &Error{f.Name, t.line, t.column, fmt.Sprintf(format, args...)}
}

// said is the token as an error names it.
func (t token) said() string {
	if t.text == "" {
		return "the end of the text"
	}
	return strconv.Quote(t.text)
}

// parseOne reads one rule; next is what follows it.
func parseOne(f File, list []token, next token) (p *ast.Policy, err error) {
	first, last := list[0], list[len(list)-1]
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, first.fault(f, "got a rule that cannot be read: %v", r)
		}
	}()
	// With two more ; each token has one behind it, which is where Cedar says
	// that a fault is.
	var read cedar.Policy
	if err := read.UnmarshalCedar([]byte(f.Text[first.offset:last.offset+len(last.text)] + "\n;\n;")); err != nil {
		return nil, explainParse(f, list, next, err)
	}
	if last.text != ";" {
		return nil, next.fault(f, `got %s, want ";"`, next.said())
	}
	return (*ast.Policy)(read.AST()), nil
}

// explainParse finds the token that Cedar means, and says what it wanted.
func explainParse(f File, list []token, next token, err error) error {
	first := list[0]
	found := regexp.MustCompile(`(?s)^(?:parse error at )?<input>:(\d+):(\d+)(?: "(?:[^"\\]|\\.)*")?: (.*)$`).FindStringSubmatch(err.Error())
	if found == nil {
		if errors.Is(err, strconv.ErrRange) {
			return outOfRange(list).fault(f, "got a number beyond 64 bits, want one within")
		}
		return first.fault(f, "%s", err)
	}
	line, _ := strconv.Atoi(found[1])
	column, _ := strconv.Atoi(found[2])
	if line == 1 {
		column += first.column - 1
	}
	line += first.line - 1
	text := found[3]
	if !strings.HasPrefix(err.Error(), "parse error") { // it found no tokens
		return token{line: line, column: column}.fault(f, "%s", text)
	}
	at := len(list)
	for i, t := range list {
		if t.line == line && t.column == column {
			at = i
		}
	}
	if last := list[len(list)-1]; at == len(list) && line == last.line+strings.Count(last.text, "\n")+2 {
		at++ // the second of the two ;
	}
	if !strings.HasPrefix(text, "got ") { // else it has not taken the token yet
		at--
	}
	t := next
	if at = max(at, 0); at < len(list) {
		t = list[at]
	} else {
		t.text = ""
	}
	if found := regexp.MustCompile("^(?:`(.*)` is |duplicate key: (.*))").FindStringSubmatch(text); found != nil {
		t = before(list[:min(at, len(list))], found[1]+found[2], t)
	}
	if found := regexp.MustCompile(`(?s)^(?:exact )?got .* want (\S+)$`).FindStringSubmatch(text); found != nil {
		return t.fault(f, "got %s, want %q", t.said(), found[1])
	}
	switch text {
	case "expected ident", "expected ident after dot", "expected ident or reserved keyword":
		return t.fault(f, "got %s, want a name", t.said())
	case "expected ident or string", "unexpected token":
		return t.fault(f, "got %s, want a name or a text in quotes", t.said())
	case "expected string", "expected string literal":
		return t.fault(f, "got %s, want a text in quotes", t.said())
	case "invalid primary":
		return t.fault(f, "got %s, want a value", t.said())
	}
	if strings.HasPrefix(text, "unexpected effect") {
		return t.fault(f, "got %s, want permit or forbid", t.said())
	}
	return t.fault(f, "%s", text)
}
