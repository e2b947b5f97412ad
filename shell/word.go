package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// computed stands in a word for what is computed when the line runs. No pattern
// of a rule and no word of a program can have it.
const computed = "\x00"

// word is one word of a command, as the program would get it.
type word struct {
	text string // unquoted; what is computed is a NUL
	// splits: it may become any number of words, of which only the first begins
	// as it does: an unquoted variable or substitution.
	splits bool
	// many: it may become more than one word, all beginning as it does: a glob
	// or braces.
	many bool
	// globs: it may become the names that a folder has.
	globs bool
	// braces: it has braces, and what is within them may end it.
	braces bool
}

// fixed reports whether the word is what it is, whenever the line runs.
func (w word) fixed() bool { return !strings.Contains(w.text, computed) }

// start is what the word surely begins with.
func (w word) start() string {
	s, _, _ := strings.Cut(w.text, computed)
	return s
}

// one reports whether the word stays one word.
func (w word) one() bool { return !w.splits && !w.many }

// plain reports whether the word, and all that it may become, is surely no
// option: it begins with something other than a dash.
func (w word) plain() bool {
	s := w.start()
	return !w.splits && s != "" && (s[0] != '-' || w.text == "-")
}

// readWords unquotes the words of a command.
func readWords(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, a := range args {
		words[i] = readWord(a)
	}
	return words
}

// readWord unquotes a word of a command, where bash expands globs, braces and
// tildes and splits what is not quoted.
func readWord(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	if len(w.Parts) == 1 { // the common case takes no builder
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if !strings.ContainsAny(p.Value, "\\*?[{~") || p.Value == "[" {
				return word{text: p.Value}
			}
		case *syntax.SglQuoted:
			if !p.Dollar {
				return word{text: p.Value}
			}
		}
	}
	var r word
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r.literal(&b, p.Value, i == 0, len(w.Parts) == 1)
		case *syntax.SglQuoted:
			text, ok := p.Value, true
			if p.Dollar {
				text, ok = ansiText(p.Value)
			}
			if !ok {
				text = computed
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			r.quoted(&b, p)
		case *syntax.ParamExp:
			b.WriteString(homePrefix(p) + computed)
			r.splits = r.splits || !isHome(p)
		case *syntax.ProcSubst: // becomes /dev/fd/N
			b.WriteString("/dev/fd/" + computed)
		default:
			b.WriteString(computed)
			r.splits = true
		}
	}
	r.text = b.String()
	return r
}

// literal unquotes what stands without quotes.
func (w *word) literal(b *strings.Builder, text string, first, alone bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
			if i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case '*', '?', '[':
			b.WriteString(computed)
			w.many, w.globs = true, true
		case '{':
			if alone && !strings.Contains(text, ",") && !strings.Contains(text, "..") {
				b.WriteByte(c) // braces without a list stay
				continue
			}
			b.WriteString(computed)
			w.many, w.braces = true, true
		case '~':
			switch {
			case first && i == 0: // becomes a path, or stays
				end := strings.IndexByte(text, '/')
				if end < 0 {
					end = len(text)
				}
				b.WriteString("/" + computed)
				i = end - 1
			case text[i-min(i, 1)] == '=' || text[i-min(i, 1)] == ':':
				b.WriteString(computed)
			default:
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
}

// quoted unquotes what stands in double quotes.
func (w *word) quoted(b *strings.Builder, q *syntax.DblQuoted) {
	if q.Dollar { // translated
		b.WriteString(computed)
		return
	}
	for _, part := range q.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescapeQuoted(p.Value))
		case *syntax.ParamExp:
			b.WriteString(homePrefix(p) + computed)
			if isList(p) { // "$@" is as many words as there are
				w.splits = true
			}
		default:
			b.WriteString(computed)
		}
	}
}

// unescapeQuoted undoes the escapes that count within double quotes.
func unescapeQuoted(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// isList reports whether a parameter in quotes may be more than one word.
func isList(p *syntax.ParamExp) bool {
	if p.Excl || p.Names != 0 {
		return true
	}
	if p.Param != nil && p.Param.Value == "@" {
		return true
	}
	index, ok := p.Index.(*syntax.Word)
	return ok && index.Lit() == "@"
}

// isHome reports whether a parameter is the home directory, which whoever runs
// the line sets: an absolute path without spaces. Lines that change it are not
// ReadOnly.
func isHome(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Param.Value == "HOME" && bare(p)
}

// homePrefix is what the value of a parameter surely begins with.
func homePrefix(p *syntax.ParamExp) string {
	if p.Param != nil && (p.Param.Value == "HOME" || p.Param.Value == "PWD") && bare(p) {
		return "/"
	}
	return ""
}

// bare reports whether a parameter is expanded as it is.
func bare(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// ansiText decodes $'…'. It gives up at what it does not know.
func ansiText(text string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		if i++; i >= len(text) {
			return "", false
		}
		switch c := text[i]; c {
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'x':
			n, size := digits(text[i+1:], 16, 2)
			if size == 0 || n < ' ' || n > '~' {
				return "", false
			}
			b.WriteByte(byte(n & 0x7f))
			i += size
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, size := digits(text[i:], 8, 3)
			if n < ' ' || n > '~' {
				return "", false
			}
			b.WriteByte(byte(n & 0x7f))
			i += size - 1
		default:
			return "", false
		}
	}
	return b.String(), true
}

// digits reads at most most digits of a base, and says how many there are.
func digits(text string, base, most int) (n, size int) {
	for size < len(text) && size < most {
		d := strings.IndexByte("0123456789abcdefABCDEF", text[size])
		if d > 15 {
			d -= 6
		}
		if d < 0 || d >= base {
			break
		}
		n = n*base + d
		size++
	}
	return n, size
}
