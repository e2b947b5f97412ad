package shell

import (
	"slices"
	"strings"
)

// judgeTest judges test and [. Operators must be in the line: -v evaluates an
// index, and a word that is computed may become an operator.
func judgeTest(args []word) string {
	if n := len(args); n > 0 && args[n-1].text == "]" {
		args = args[:n-1]
	}
	sure := true
	for _, a := range args {
		if a.text == "-v" || a.text == "-R" {
			return a.text + " evaluates an index, and runs the commands in it"
		}
		if a.splits || a.many {
			return shown(a) + " may become an operator"
		}
		sure = sure && a.fixed()
	}
	if sure {
		return ""
	}
	if len(args) > 0 && args[0].text == "!" {
		args = args[1:]
	}
	switch {
	case len(args) == 1:
	case len(args) == 2 && args[0].fixed() && strings.HasPrefix(args[0].text, "-") && len(args[0].text) == 2:
	case len(args) == 3 && slices.Contains([]string{"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"}, args[1].text):
	default:
		return "an operator may be computed"
	}
	return ""
}

// judgePrintf judges printf: -v and %n give variables values.
func judgePrintf(args []word) string {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	format := args[0]
	switch {
	case strings.HasPrefix(format.start(), "-"):
		return shown(format) + " may give a variable a value"
	case !format.fixed() && (len(args) > 1 || !format.one()):
		return shown(format) + " may be a format that gives a variable a value"
	}
	for text := format.text; ; {
		i := strings.IndexByte(text, '%')
		if i < 0 || i+1 >= len(text) {
			return ""
		}
		if text = text[i+1:]; text[0] == '(' { // a time
			text = text[strings.IndexByte(text, ')')+1:]
		}
		text = strings.TrimLeft(text, "#0-+ '.*123456789hlLjzt")
		if strings.HasPrefix(text, "n") {
			return "%n gives a variable a value"
		}
		text = strings.TrimPrefix(text, "%")
	}
}

// judgeRead judges read: what it fills must be variables of the line's own.
func judgeRead(args []word) string {
	names, why := flags("-ers -a: -d: -i: -n: -N: -p: -t: -u:").check(args)
	if why != "" {
		return why
	}
	for i, a := range args {
		if a.text == "-a" && i+1 < len(args) {
			names = append(names, args[i+1])
		} else if strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "a") && a.text != "-a" {
			return a.text + ": not judged"
		}
	}
	return ownNames(names)
}

// judgeUnset judges unset.
func judgeUnset(args []word) string {
	names, why := flags("-v").check(args)
	if why != "" {
		return why
	}
	return ownNames(names)
}

// ownNames reports which word is not the name of a variable of the line's own.
func ownNames(names []word) string {
	for _, n := range names {
		if !n.fixed() || !ownVariable(n.text) {
			return shown(n) + " may change what commands do"
		}
	}
	return ""
}

// judgeSet judges set: options that make the shell stricter or show more.
func judgeSet(args []word) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !a.fixed():
			return shown(a) + " is only known when it runs"
		case len(a.text) > 1 && (a.text[0] == '-' || a.text[0] == '+') && strings.Trim(a.text[1:], "efuxo") == "":
			if strings.Contains(a.text, "o") {
				if i++; i < len(args) && !slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber"}, args[i].text) {
					return shown(args[i]) + " is not among the options that change nothing"
				}
			}
		default:
			return a.text + " is not among the options that change nothing"
		}
	}
	return ""
}

// judgeShopt judges shopt: how globs are read, not how lines are. With nullglob
// a word may go, and the next take its place.
func judgeShopt(args []word) string {
	for _, a := range args {
		switch a.text {
		case "-s", "-u", "-p", "-q", "globstar", "dotglob", "nocaseglob", "failglob", "nocasematch":
		default:
			return shown(a) + " is not among the options that change nothing"
		}
	}
	return ""
}

// judgeKill judges kill, which lists signals with -l.
func judgeKill(args []word) string {
	if len(args) == 0 || args[0].text != "-l" && args[0].text != "-L" {
		return "signals processes"
	}
	for _, a := range args {
		if !a.fixed() {
			return shown(a) + " is only known when it runs"
		}
	}
	if len(args) > 2 {
		return "more than one operand"
	}
	return ""
}

// runsCommand finds what command runs; command -v only says what it would.
func runsCommand(args []word) ([]word, string) {
	if len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return nil, ""
	}
	if len(args) > 0 && args[0].text == "-p" {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0].text, "-") {
		return nil, "a flag of it is not known"
	}
	return args, ""
}

// runsOther finds what a program runs that runs the rest of its words.
func runsOther(name string) func([]word) ([]word, string) {
	return func(args []word) ([]word, string) {
		inner, why := behind(name, args)
		if why == "" && len(inner) == 0 && name != "env" && name != "nice" {
			why = "without a command it is not known to only read"
		}
		if len(inner) == 0 {
			inner = nil
		}
		return inner, why
	}
}

// behind are the words behind a program's own: its flags, and for env the
// variables.
func behind(name string, args []word) ([]word, string) {
	r := map[string]row{
		"nice":    flags("-n: -# --adjustment="),
		"ionice":  flags("-t -c: -n: --class= --classdata="),
		"timeout": flags("-v -k: -s: --kill-after= --signal= --preserve-status --foreground --verbose"),
		"stdbuf":  flags("-i: -o: -e: --input= --output= --error="),
	}[name]
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		if !a.fixed() {
			return nil, shown(a) + " is only known when it runs"
		}
		if name == "env" {
			variable, value, ok := strings.Cut(a.text, "=")
			if !ok {
				break
			}
			if !harmless(variable, word{text: value}) {
				return nil, variable + "= may change what commands do"
			}
			continue
		}
		if !strings.HasPrefix(a.text, "-") {
			break
		}
		takes, ok := r.flag(a.text)
		if !ok {
			return nil, "the flag " + a.text + " is not among those that only read"
		}
		if takes {
			if i++; i < len(args) && !args[i].one() {
				return nil, shown(args[i]) + " may be more than the value of " + a.text
			}
		}
	}
	if name == "timeout" {
		i++ // how long
	}
	if i >= len(args) {
		return nil, ""
	}
	if strings.HasPrefix(args[i].text, "-") {
		return nil, "the flag " + args[i].text + " is not among those that only read"
	}
	return args[i:], ""
}
