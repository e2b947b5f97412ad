package shell

import "strings"

// judgeSed judges sed: its flags, and that no command of the script writes, runs
// or is computed. There is no -l, which takes the next word for its value only on
// some machines; on others that is the script.
func judgeSed(args []word) string {
	const all = "-nErsuz -e: --quiet --silent --regexp-extended --expression= --separate --unbuffered --null-data --zero-terminated --line-length= --posix --sandbox --debug"
	r := flags(all)
	var scripts []word
	given := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.text == "--" {
			break
		}
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			continue
		}
		switch {
		case strings.HasPrefix(a.text, "--expression="):
			given = true
			scripts = append(scripts, word{text: a.text[len("--expression="):]})
		case a.text == "--expression" || r.has(a.text, "-e"):
			given = true
			if rest := a.text[strings.IndexByte(a.text, 'e')+1:]; a.text != "--expression" && rest != "" {
				scripts = append(scripts, word{text: rest})
			} else if i++; i < len(args) {
				scripts = append(scripts, args[i])
			}
		}
	}
	operands, why := withoutScripts(r, args)
	if why != "" {
		return why
	}
	if !given {
		if len(operands) == 0 {
			return "without a script it is not known to only read"
		}
		scripts = operands[:1]
	}
	for _, s := range scripts {
		if !s.fixed() || !s.one() {
			return "its script is only known when it runs"
		}
		if !sedReads(s.text) {
			return "its script may write or run, or is not understood: " + s.text
		}
	}
	return ""
}

// withoutScripts checks the flags, where a script may begin with a dash.
func withoutScripts(r row, args []word) ([]word, string) {
	rest := make([]word, 0, len(args))
	for i := 0; i < len(args); i++ {
		if args[i].text == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		rest = append(rest, args[i])
		if takes, ok := r.flag(args[i].text); strings.HasPrefix(args[i].text, "-") && args[i].text != "-" && ok && takes && i+1 < len(args) {
			i++
			rest = append(rest, word{text: "script"})
		}
	}
	return r.check(rest)
}

// sedReads reports whether a script has only commands that read. It gives up at
// what it does not know.
func sedReads(script string) bool {
	s := sedScanner{text: script}
	depth := 0
	for {
		s.skip(" \t\n;")
		if s.done() {
			return depth == 0
		}
		if s.peek() == '}' {
			s.at++
			depth--
			if depth < 0 {
				return false
			}
			continue
		}
		if s.peek() == '#' {
			s.line()
			continue
		}
		if !s.address() {
			return false
		}
		s.skip(" \t!")
		if s.done() {
			return false
		}
		c := s.next()
		switch c {
		case '{':
			depth++
			continue
		case 'p', 'd', 'D', 'P', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'z', 'F':
		case 'q', 'Q', 'l', 'L':
			s.skip(" 0123456789")
		case ':', 'b', 't', 'T':
			s.skip(" \t")
			s.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
		case 'a', 'i', 'c': // the text goes to the end of the line
			if !s.skipText() {
				return false
			}
			continue
		case 's':
			if !s.substitution() {
				return false
			}
		case 'y':
			d := s.next()
			if !delimiter(d) || !s.until(d, false) || !s.until(d, false) {
				return false
			}
		default:
			return false
		}
		s.skip(" \t")
		if !s.done() && strings.IndexByte(";\n}#", s.peek()) < 0 {
			return false
		}
	}
}

type sedScanner struct {
	text string
	at   int
}

func (s *sedScanner) done() bool { return s.at >= len(s.text) }

func (s *sedScanner) peek() byte {
	if s.done() {
		return 0
	}
	return s.text[s.at]
}

func (s *sedScanner) next() byte {
	c := s.peek()
	s.at++
	return c
}

func (s *sedScanner) skip(set string) {
	for !s.done() && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
	}
}

// line goes to the end of the line.
func (s *sedScanner) line() {
	if i := strings.IndexByte(s.text[min(s.at, len(s.text)):], '\n'); i >= 0 {
		s.at += i
		return
	}
	s.at = len(s.text)
}

// skipText goes past the text of a, i and c: lines that end with a backslash go on,
// unless that has a backslash before it, which is not always so.
func (s *sedScanner) skipText() bool {
	for {
		from := min(s.at, len(s.text))
		s.line()
		if strings.HasSuffix(s.text[from:s.at], `\\`) {
			return false
		}
		if !strings.HasSuffix(s.text[from:s.at], `\`) || s.done() {
			return true
		}
		s.at++
	}
}

// address goes past the lines that a command is for.
func (s *sedScanner) address() bool {
	for range 2 {
		switch c := s.peek(); {
		case '0' <= c && c <= '9', c == '$', c == '+', c == '~':
			s.at++
			s.skip("0123456789~")
		case c == '/':
			s.at++
			if !s.until('/', true) {
				return false
			}
			s.skip("IM")
		case c == '\\':
			s.at++
			d := s.next()
			if !delimiter(d) || !s.until(d, true) {
				return false
			}
			s.skip("IM")
		}
		s.skip(" \t")
		if s.peek() != ',' {
			return true
		}
		s.at++
		s.skip(" \t")
	}
	return true
}

// delimiter reports whether a character may stand around a pattern.
func delimiter(c byte) bool {
	return c > ' ' && c < 0x7f && c != '\\' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}

// until goes past the next delimiter. Where it stands in brackets it is not
// clear whether it counts.
func (s *sedScanner) until(d byte, pattern bool) bool {
	bracket := false
	for !s.done() {
		c := s.next()
		switch {
		case c == '\\':
			if s.next() == d && bracket {
				return false
			}
		case c == d:
			return !bracket
		case c == '\n':
			return false
		case c == '[' && pattern && !bracket:
			bracket = true
			if s.peek() == '^' {
				s.at++
			}
			if s.peek() == ']' {
				s.at++
			}
		case c == '[' && bracket && strings.IndexByte(":.=", s.peek()) >= 0: // [:alpha:]
			kind := s.next()
			end := strings.Index(s.text[s.at:], string(kind)+"]")
			if kind == 0 || end < 0 || strings.IndexByte(s.text[s.at:s.at+end], d) >= 0 {
				return false
			}
			s.at += end + 2
		case c == ']':
			bracket = false
		}
	}
	return false
}

// substitution goes past s/…/…/ and its flags: not e, not w.
func (s *sedScanner) substitution() bool {
	d := s.next()
	if !delimiter(d) || !s.until(d, true) || !s.until(d, false) {
		return false
	}
	s.skip("gpiIM0123456789")
	return true
}
