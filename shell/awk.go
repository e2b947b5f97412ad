package shell

import "strings"

// judgeAwk judges awk: its flags, and that no statement of the program writes,
// runs or is computed.
func judgeAwk(args []word) string {
	i := 0
flags:
	for ; i < len(args); i++ {
		a := args[i]
		switch text := a.start(); {
		case a.text == "--":
			i++
			break flags
		case a.text == "-F" || a.text == "-v":
			if i++; i < len(args) && !args[i].one() {
				return shown(args[i]) + " may become a flag"
			}
		case strings.HasPrefix(text, "-F") && len(text) > 2 && a.one(), strings.HasPrefix(text, "-v") && len(text) > 2 && a.one():
		case strings.HasPrefix(text, "--field-separator=") && a.one(), strings.HasPrefix(text, "--assign=") && a.one():
		case a.text == "--posix" || a.text == "--re-interval" || a.text == "--traditional" || a.text == "--sandbox" || a.text == "-P" || a.text == "-c" || a.text == "-b" || a.text == "-S":
		case !a.fixed() && text == "", strings.HasPrefix(text, "-"):
			return "the flag " + shown(a) + " is not among those that only read"
		default:
			break flags
		}
	}
	if i >= len(args) {
		return "without a program it is not known to only read"
	}
	program := args[i]
	if !program.fixed() || !program.one() {
		return "its program is only known when it runs"
	}
	if !awkReads(program.text) {
		return "its program may write or run, or is not understood"
	}
	for _, a := range args[i+1:] {
		// A variable may hold /inet/…, which is a connection; a glob finds files.
		if strings.HasPrefix(a.text, "/inet") || strings.HasPrefix(a.text, "-") && a.text != "-" || !a.fixed() && a.start() == "" && (!a.many || a.splits || a.braces) {
			return shown(a) + " is not among the words that only read"
		}
	}
	return ""
}

// awkReads reports whether a program has nothing that writes or runs: no system,
// no getline, no pipe, no print into something, no extension. It gives up where
// the text can be read in two ways.
func awkReads(program string) bool {
	for _, bad := range [...]string{"system", "getline", "@", "/inet", "ARGV", "extension", "PROCINFO", "fflush"} {
		if strings.Contains(program, bad) {
			return false
		}
	}
	if !strings.ContainsAny(program, "|>") {
		return true
	}
	var last byte // the last character that counts, 'a' for a word
	word := ""
	depth, printing := 0, -1 // in parentheses; at which depth a print goes on
	for i := 0; i < len(program); {
		c := program[i]
		switch {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#':
			for i < len(program) && program[i] != '\n' {
				i++
			}
			continue
		case c == '\\' && i+1 < len(program) && program[i+1] == '\n':
			i += 2
			continue
		case c == '"':
			end := closing(program, i+1, '"')
			if end < 0 {
				return false
			}
			i, last, word = end+1, 'a', ""
			continue
		case c == '/':
			switch {
			case last == 'a' && strings.Contains(" else do exit delete next nextfile break continue function func BEGIN END ", " "+word+" ") && word != "",
				last == '+' || last == '-' || last == '$',
				last == ')' && strings.IndexByte(program[i+1:], '/') >= 0:
				return false // i++ / 2 or + /pattern/; (a) / 2 or if (a) /pattern/
			case last == 'a' && word != "print" && word != "return" && word != "in" && word != "printf" && word != "case", last == ')', last == ']':
				i++ // divided by
				last, word = c, ""
				continue
			}
			end := closing(program, i+1, '/')
			if end < 0 {
				return false
			}
			i, last, word = end+1, 'a', ""
			continue
		case letter(c) || '0' <= c && c <= '9' || c == '.':
			from := i
			for i < len(program) && (letter(program[i]) || '0' <= program[i] && program[i] <= '9' || program[i] == '.') {
				i++
			}
			last, word = 'a', program[from:i]
			if word == "print" || word == "printf" {
				printing = depth
			}
			continue
		case c == '|':
			if i+1 >= len(program) || program[i+1] != '|' {
				return false
			}
			i++
		case c == '>':
			switch {
			case i+1 < len(program) && program[i+1] == '>':
				return false
			case i+1 < len(program) && program[i+1] == '=':
				i++
			case printing >= 0 && depth <= printing:
				return false
			}
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			if depth--; depth < 0 {
				return false
			}
		case c == '\n' && last != 0 && strings.IndexByte(",&|?:", last) >= 0:
			i++ // the statement goes on
			continue
		case c == ';' || c == '}' || c == '{' || c == '\n':
			if printing >= 0 && depth > printing {
				return false
			}
			printing = -1
			if depth != 0 && c != ';' && c != '\n' {
				return false
			}
		}
		last, word = c, ""
		i++
	}
	return depth == 0
}

func letter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// closing is where a string or a pattern ends; -1: it does not, or it is not
// clear where.
func closing(text string, from int, quote byte) int {
	bracket := false
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case quote == '/' && (strings.HasPrefix(text[i:], "[]") || strings.HasPrefix(text[i:], "[^]")):
			return -1
		case c == '\\':
			i++
		case c == '\n':
			return -1
		case quote == '/' && c == '[':
			bracket = true
		case quote == '/' && c == ']':
			bracket = false
		case c == quote:
			if bracket {
				return -1
			}
			return i
		}
	}
	return -1
}
