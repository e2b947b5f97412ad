package shell

import (
	"strconv"
	"strings"
)

// verdict is what one command can do.
type verdict struct {
	why   string // why it is not ReadOnly; "": it is
	local bool   // it reaches nothing outside this machine
	inner []word // the command that it runs, to be judged too
}

// row is what the table says of a program. The zero row is not in the table.
type row struct {
	listed bool
	any    bool // no flag and no operand of it can write or run
	// flags are what it may be given otherwise, separated by spaces:
	//
	//	-abc      short flags, also combined
	//	-k:       one with a value, in the same word or the next
	//	-c?       one with a value in the same word, or none
	//	--name    a long flag; --name= with a value, --name? with one after = or none
	//	~name     a long flag with one dash; ~name= with a value in the next word
	//	-#        digits, such as -20
	//	:N        at most N operands
	flags string
	// judge has the last word, after the flags if there are any.
	judge func(args []word) string
	// subs: the first operand is a command of its own, with its own row.
	subs bool
	// remote: it may ask another machine.
	remote bool
	// runs finds the command that it runs.
	runs func(args []word) ([]word, string)
}

// judgeCommand looks a program up and checks its words.
func judgeCommand(name string, args []word) verdict {
	r := table(name)
	if !r.listed {
		if len(args) == 1 && asksHelp(args[0].text) && answersHelp(name) {
			return verdict{local: true}
		}
		return verdict{why: "not among the commands that only read", local: changesOnlyFiles(name)}
	}
	if len(args) == 1 && asksHelp(args[0].text) && !r.subs && r.runs == nil && !strings.HasPrefix(name, "git ") {
		return verdict{local: true} // git shows its manual with a program that is configured
	}
	v := verdict{local: !r.remote}
	switch {
	case r.subs:
		return r.command(name, args)
	case r.runs != nil:
		v.inner, v.why = r.runs(args)
	case r.any:
	case r.judge != nil:
		if r.flags != "" {
			_, v.why = r.check(args)
		}
		if v.why == "" {
			v.why = r.judge(args)
		}
		v.local = v.local && (v.why == "" || changesOnlyFiles(name))
	default:
		_, v.why = r.check(args)
		v.local = v.local && (v.why == "" || changesOnlyFiles(name))
	}
	return v
}

// command judges a program whose first operand is a command of its own.
func (r row) command(name string, args []word) verdict {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.fixed() {
			return verdict{why: shown(a) + " is only known when it runs"}
		}
		if asksHelp(a.text) && len(args) == 1 {
			return verdict{local: true}
		}
		if !strings.HasPrefix(a.text, "-") {
			if a.text != "" && !strings.ContainsAny(a.text, " \t\n") && table(name+" "+a.text).listed {
				return judgeCommand(name+" "+a.text, args[i+1:])
			}
			return verdict{why: a.text + " is not among its commands that only read"}
		}
		takes, ok := r.flag(a.text)
		if !ok {
			return verdict{why: "the flag " + a.text + " is not among those that only read"}
		}
		if takes {
			if i++; i < len(args) && !args[i].one() {
				return verdict{why: shown(args[i]) + " may be more than the value of " + a.text}
			}
		}
	}
	if table(name + " ").listed { // without any command
		return verdict{local: !r.remote}
	}
	return verdict{why: "without a command it is not known to only read"}
}

// check compares words with the flags of a row. It returns the operands.
func (r row) check(args []word) (operands []word, why string) {
	most, count := r.operands(), 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		start := a.start()
		switch {
		case a.text == "--" && strings.Contains(r.flags, "~"):
			return nil, "-- may not end its flags"
		case a.text == "--":
			for _, o := range args[i+1:] {
				if most >= 0 && !o.one() {
					return nil, shown(o) + " may be more than one word"
				}
				operands = append(operands, o)
				count++
			}
			i = len(args)
		case a.splits, start == "" && a.text != "":
			return nil, shown(a) + " may become a flag"
		case a.plain() || a.text == "":
			if most >= 0 && !a.one() {
				return nil, shown(a) + " may be more than one word"
			}
			operands = append(operands, a)
			count++
		default: // a flag
			if !a.one() {
				return nil, shown(a) + " may become a flag"
			}
			takes, ok := r.flag(a.text)
			if !ok {
				return nil, "the flag " + shown(a) + " is not among those that only read"
			}
			if count > 0 {
				count++ // behind an operand, some programs take flags for operands too
			}
			if !takes {
				continue
			}
			if i++; i >= len(args) {
				return nil, "the flag " + a.text + " lacks its value"
			}
			if v := args[i]; v.splits || v.many || strings.HasPrefix(v.start(), "-") && v.text != "-" && !isNumber(v.text) {
				return nil, shown(v) + " may not be the value of " + a.text
			}
		}
	}
	if most >= 0 && count > most {
		return nil, "with more than " + strconv.Itoa(most) + " operands it may write"
	}
	return operands, ""
}

// operands is how many operands a row takes; -1: any number.
func (r row) operands() int {
	at := strings.LastIndex(r.flags, " :") + 1
	if len(r.flags) > at+1 && r.flags[at] == ':' {
		return int(r.flags[at+1] - '0')
	}
	return -1
}

// flag reports whether a row has a flag, and whether its value is the next word.
// What is computed may only be the value.
func (r row) flag(text string) (takes, ok bool) {
	name, _, valued := strings.Cut(text, "=")
	if strings.Contains(name, computed) && strings.HasPrefix(name, "--") {
		return false, false
	}
	for f := range strings.FieldsSeq(r.flags) {
		switch {
		case f[0] == '~' && !strings.HasPrefix(text, "--"):
			if word, takes := strings.CutSuffix(f[1:], "="); text[1:] == word {
				return takes, true
			}
		case !strings.HasPrefix(f, "--") || !strings.HasPrefix(text, "--"):
		case strings.HasSuffix(f, "="):
			if name == f[:len(f)-1] {
				return !valued, true
			}
		case strings.HasSuffix(f, "?"):
			if name == f[:len(f)-1] {
				return false, true
			}
		case text == f:
			return false, true
		}
	}
	if strings.HasPrefix(text, "--") {
		return false, false
	}
	return r.letters(text)
}

// letters checks combined short flags.
func (r row) letters(text string) (takes, ok bool) {
	for i := 1; i < len(text); i++ {
		kind := r.letter(text[i])
		switch kind {
		case 0:
			return false, false
		case ':':
			// What is computed may be empty: then the next word is the value.
			return i+1 == len(text), !strings.HasPrefix(text[i+1:], computed)
		case '?':
			return false, true
		}
	}
	return false, len(text) > 1
}

// has reports whether a word of flags has one flag in it, as itself and not as
// the value of another.
func (r row) has(text, flag string) bool {
	name, _, _ := strings.Cut(text, "=")
	if len(flag) > 2 || !strings.HasPrefix(text, "-") || strings.HasPrefix(text, "--") {
		return name == flag
	}
	for i := 1; i < len(text); i++ {
		if text[i] == flag[1] {
			return true
		}
		if r.letter(text[i]) != '-' {
			return false
		}
	}
	return false
}

// letter is how a row has a short flag: '-' without a value, ':' with one, '?'
// with one in the same word; 0: not.
func (r row) letter(c byte) byte {
	for f := range strings.FieldsSeq(r.flags) {
		if f[0] != '-' || len(f) < 2 || f[1] == '-' {
			continue
		}
		if f == "-#" {
			if '0' <= c && c <= '9' {
				return '-'
			}
			continue
		}
		kind := byte('-')
		if last := f[len(f)-1]; last == ':' || last == '?' {
			kind = last
		}
		if strings.IndexByte(strings.TrimRight(f[1:], ":?"), c) >= 0 {
			return kind
		}
	}
	return 0
}

// asksHelp reports whether a word asks a program what it is.
func asksHelp(text string) bool { return text == "--help" || text == "--version" }
