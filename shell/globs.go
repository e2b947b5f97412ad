package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// globsOf are the words of a line that become something else when it runs, and those of
// them whose command may change something. Also what is quoted counts: find takes
// patterns itself.
func globsOf(file *syntax.File) (all, changes []string) {
	add := func(w *syntax.Word, change bool) {
		text := globText(w)
		if !strings.ContainsAny(text, "*"+computed) || strings.Trim(text, computed) == "" {
			return
		}
		all = append(all, text)
		if change {
			changes = append(changes, text)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Word != nil {
				add(n.Word, redirection(n) != redirectsNothing)
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			words := readWords(n.Args)
			name, ok := known(words[0].text)
			v := judgeCommand(name, words[1:])
			change := !ok || !words[0].fixed() || v.why != "" || v.inner != nil
			for _, w := range n.Args[1:] {
				add(w, change)
			}
		}
		return true
	})
	return all, changes
}

// globText is a word with a * for what a glob becomes, and a NUL for what is computed.
func globText(w *syntax.Word) string {
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(globLiteral(p.Value, i == 0))
		case *syntax.SglQuoted:
			b.WriteString(globLiteral(strings.ReplaceAll(p.Value, `\`, `\\`), false))
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(globLiteral(lit.Value, false))
				} else {
					b.WriteString(computed)
				}
			}
		default:
			b.WriteString(computed)
		}
	}
	return b.String()
}

// globLiteral is what stands in a word as it is written.
func globLiteral(text string, first bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			if i++; i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case c == '*', c == '?':
			b.WriteByte('*')
		case c == '[':
			b.WriteByte('*')
			if end := strings.IndexByte(text[i+1:], ']'); end >= 0 {
				i += 1 + end
			}
		case c == '{':
			b.WriteString(computed)
			if end := strings.LastIndexByte(text[i:], '}'); end >= 0 {
				i += end
			}
		case c == '~' && first && i == 0:
			b.WriteString(computed)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
