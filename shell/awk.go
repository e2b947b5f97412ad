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
// no getline, no pipe, no print into something, no extension, no way to a variable
// by a name that is composed. It gives up where the text can be read in two ways,
// by one awk or by two.
func awkReads(program string) bool {
	for _, bad := range [...]string{"system", "getline", "@", "/inet", "ARGV", "SYMTAB", "FUNCTAB", "extension", "PROCINFO", "fflush"} {
		if strings.Contains(program, bad) {
			return false
		}
	}
	if !strings.ContainsAny(program, "|>") {
		return true
	}
	var last byte // the last character that counts, 'a' for a word, a number, a string or a pattern
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
		case c == '\\':
			if i+1 >= len(program) || program[i+1] != '\n' {
				return false // some awks let the line go on behind spaces, too
			}
			i += 2
			continue
		case c >= 0x80:
			return false // a letter to some
		case c == '"', c == '/' && !awkDivides(last, word):
			end := closing(program, i+1, c)
			if end < 0 || c == '/' && awkUnclear(last, word, program[i+1:]) {
				return false
			}
			i, last, word = end+1, 'a', ""
			continue
		case c == '/':
			if awkUnclear(last, word, program[i+1:]) {
				return false
			}
		case letter(c):
			from := i
			for i < len(program) && (letter(program[i]) || digit(program[i])) {
				i++
			}
			last, word = 'a', program[from:i]
			if word == "print" || word == "printf" {
				printing = depth
			}
			continue
		case digit(c) || c == '.':
			size := awkNumber(program[i:])
			if size == 0 {
				return false
			}
			i, last, word = i+size, 'a', ""
			continue
		case c == '|':
			if i+1 >= len(program) || program[i+1] != '|' {
				return false
			}
			i++
		case c == '>':
			switch {
			case printing >= 0 && depth <= printing, i+1 < len(program) && program[i+1] == '>':
				return false
			case i+1 < len(program) && program[i+1] == '=':
				i++
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
			if printing >= 0 && (depth > printing || c == '\n' && (word == "in" || strings.IndexByte("a)]", last) < 0)) {
				return false // behind an operator it goes on, for some
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

// awkDivides reports whether a slash divides what stands before it; otherwise a
// pattern begins.
func awkDivides(last byte, word string) bool {
	switch last {
	case 'a':
		return word != "print" && word != "printf" && word != "return"
	case ')', ']':
		return true
	}
	return false
}

// awkUnclear reports whether awks differ in what a slash is, or a grammar would be
// needed to tell: i++ / 2 or + /pattern/, (a) / 2 or if (a) /pattern/, length / 2
// or length /pattern/, case / 2 or case /pattern/, a /= 2 or 1 /=pattern/.
func awkUnclear(last byte, word, rest string) bool {
	if awkDivides(last, word) && strings.HasPrefix(rest, "=") && strings.Contains(rest, "/") {
		return true
	}
	switch last {
	case '+', '-', '$':
		return true
	case ')':
		return strings.Contains(rest, "/")
	case 'a':
		switch word {
		case "else", "do", "exit", "delete", "next", "nextfile", "break", "continue", "function", "func", "BEGIN", "END", "BEGINFILE", "ENDFILE",
			"in", "case", "default", "switch", "length", "if", "while", "for":
			return true
		}
	}
	return false
}

// awkNumber is how long the number is that a text begins with; 0: it is not clear
// where it ends, since what follows may be a word of its own.
func awkNumber(text string) int {
	i, digits := 0, false
	for ; i < len(text) && (digit(text[i]) || text[i] == '.'); i++ {
		digits = digits || digit(text[i])
	}
	if i+1 < len(text) && text[i]|0x20 == 'e' && digit(text[i+1]) {
		for i++; i < len(text) && digit(text[i]); i++ {
		}
	}
	if !digits || i < len(text) && (letter(text[i]) || text[i] == '.') {
		return 0
	}
	return i
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func letter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// closing is where a string or a pattern ends; -1: it does not, or it is not
// clear where. A slash ends a pattern for all awks only where no bracket is open,
// neither for those that know [[:alpha:]] nor for those that do not.
func closing(text string, from int, quote byte) int {
	bracket := false
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '\n':
			return -1
		case c == quote:
			if bracket {
				return -1
			}
			return i
		case quote == '"':
		case strings.HasPrefix(text[i:], "[]") || strings.HasPrefix(text[i:], "[^]"):
			return -1
		case c == '[' && !bracket:
			bracket = true
		case c == '[': // only [:alpha:] and its like are the same to all
			size := strings.Index(text[i:], ":]")
			if size < 3 || text[i+1] != ':' || strings.Trim(text[i+2:i+size], "abcdefghijklmnopqrstuvwxyz") != "" {
				return -1
			}
			i += size + 1
		case c == ']':
			bracket = false
		}
	}
	return -1
}
