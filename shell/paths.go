package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// paths finds the files that a line names. It knows few programs, and gives up
// at the first command or word that it does not know.
type paths struct {
	reads, writes     []string
	noReads, noWrites bool
	readOnly          bool // what the line is judged to be
}

// pathsOf are the paths of a line; nil where they cannot be named.
func pathsOf(file *syntax.File, readOnly bool) (reads, writes []string) {
	p := paths{reads: []string{}, writes: []string{}, readOnly: readOnly}
	syntax.Walk(file, func(n syntax.Node) bool {
		if p.noReads && (p.noWrites || readOnly) {
			return false
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				p.redirect(r)
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				p.command(readWords(n.Args))
			}
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.CoprocClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.TestClause:
			p.noReads, p.noWrites = true, true
		}
		return true
	})
	if p.noReads {
		p.reads = nil
	}
	switch {
	case readOnly:
		p.writes = []string{}
	case p.noWrites:
		p.writes = nil
	}
	return p.reads, p.writes
}

func (p *paths) redirect(r *syntax.Redirect) {
	target := readWord(r.Word)
	switch redirection(r) {
	case redirectsNothing:
		if r.Op == syntax.RdrIn {
			p.add(&p.reads, &p.noReads, target)
		}
	case redirectsOut:
		p.add(&p.writes, &p.noWrites, target)
		if r.Op == syntax.RdrInOut {
			p.add(&p.reads, &p.noReads, target)
		}
	case redirectsNetwork:
		p.noReads, p.noWrites = true, true
	}
}

// add notes a path, unless it is computed.
func (p *paths) add(list *[]string, unknown *bool, w word) {
	if !w.fixed() || !w.one() || w.text == "" {
		*unknown = true
		return
	}
	*list = append(*list, w.text)
}

// command notes the paths of one command.
func (p *paths) command(words []word) {
	name, ok := known(words[0].text)
	if !ok || !words[0].fixed() {
		p.noReads, p.noWrites = true, true
		return
	}
	operands := operandsOf(name, words[1:])
	if letters, ok := writerFlags(name); ok {
		for _, a := range words[1:] {
			if strings.HasPrefix(a.text, "-") && strings.Trim(a.text[1:], letters) != "" {
				p.noReads, p.noWrites = true, true
				return
			}
		}
	} else if !p.readOnly && judgeCommand(name, words[1:]).why != "" {
		p.noReads, p.noWrites = true, true
		return
	}
	switch name {
	case "echo", "printf", "true", "false", ":", "pwd", "seq", "date", "id", "whoami", "uname", "basename", "dirname", "tr", "sleep", "uptime", "nproc", "arch", "expr", "yes", "exit", "type", "which", "printenv":
	case "cat", "tac", "wc", "nl", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "stat", "file", "cmp", "diff", "readlink", "realpath", "head", "tail", "uniq", "sort", "rev", "strings", "hexdump", "od", "xxd", "base64", "less", "more":
		// A flag's value is taken for a path too: more is named than is read.
		for _, o := range operands {
			p.add(&p.reads, &p.noReads, o)
		}
		p.unnamed(words)
	case "grep", "egrep", "fgrep":
		for i, a := range words[1:] {
			if a.text == "-f" || strings.HasPrefix(a.text, "-") && i > 0 && strings.Contains(a.text, "f") && !strings.HasPrefix(a.text, "--") {
				p.noReads = true
			}
			if strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "rR") && len(operands) == 0 {
				operands = append(operands, word{text: "."})
			}
		}
		for _, o := range operands {
			p.add(&p.reads, &p.noReads, o)
		}
	case "ls", "du", "tree", "dir", "vdir":
		if len(operands) == 0 {
			operands = []word{{text: "."}}
		}
		for _, o := range operands {
			p.add(&p.reads, &p.noReads, o)
		}
		p.unnamed(words)
	case "touch", "mkdir", "rm", "rmdir", "tee", "unlink":
		for _, o := range operands {
			p.add(&p.writes, &p.noWrites, o)
		}
		p.unnamed(words)
	case "cp", "mv":
		for i, o := range operands {
			p.add(&p.reads, &p.noReads, o)
			if name == "mv" || i == len(operands)-1 {
				p.add(&p.writes, &p.noWrites, o)
			}
		}
		p.unnamed(words)
	default:
		p.noReads, p.noWrites = true, true
	}
}

// operandsOf are the words of a command that are no flags, nor the value of one
// that is known to take a value which is no path.
func operandsOf(name string, args []word) []word {
	values, pattern := "", false
	switch name {
	case "head", "tail":
		values = " -n -c "
	case "sort":
		values = " -k -t -S "
	case "grep", "egrep", "fgrep":
		values, pattern = " -A -B -C -m -e -d -D ", true
	}
	var operands []word
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.text == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case a.text == "" || a.text[0] != '-' || a.text == "-":
			operands = append(operands, a)
		case strings.Contains(values, " "+a.text+" "):
			i++
			pattern = pattern && a.text != "-e"
		}
	}
	if pattern && len(operands) > 0 {
		operands = operands[1:]
	}
	return operands
}

// writerFlags are the flags of a program that writes the files it names and no
// others.
func writerFlags(name string) (string, bool) {
	switch name {
	case "rm":
		return "rRfidv-", true
	case "mkdir", "rmdir":
		return "pv-", true
	case "touch":
		return "acm-", true
	case "cp":
		return "rRafpvnuiLPd-", true
	case "mv":
		return "fivnu-", true
	case "tee":
		return "ai-", true
	case "unlink":
		return "-", true
	}
	return "", false
}

// unnamed gives up where a flag may name a file: a long one with a value, or a
// short one that is more than letters.
func (p *paths) unnamed(words []word) {
	for _, w := range words[1:] {
		if strings.HasPrefix(w.text, "-") && (strings.ContainsAny(w.text, "=/.@"+computed) || w.splits || w.many) ||
			w.text == "-t" || w.text == "--target-directory" || w.text == "-T" || strings.Contains(w.text, "files0-from") {
			p.noReads, p.noWrites = true, true
		}
	}
}
