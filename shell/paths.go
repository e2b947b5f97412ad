package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// paths finds the files that a line names. It knows few programs, and gives up
// at the first command or word that it does not know.
type paths struct {
	reads, writes     []string
	names, changes    []string // see Judgement
	noReads, noWrites bool
	readOnly          bool // what the line is judged to be
}

// pathsOf are the paths of a line; nil where they cannot be named.
func pathsOf(file *syntax.File, readOnly bool) (p paths) {
	p = paths{reads: []string{}, writes: []string{}, readOnly: readOnly}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				p.redirect(r)
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				p.command(readWords(n.Args))
			}
		case *syntax.WordIter:
			for _, item := range readWords(n.Items) {
				p.noReads = p.noReads || item.globs
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
	return p
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
	p.names = append(p.names, w.text)
	if list == &p.writes {
		p.changes = append(p.changes, w.text)
	}
}

// mayName notes what the words of a command could name, where its flags are not
// known: the words, and the values that stand in one with their flag.
func (p *paths) mayName(words []word) {
	for _, w := range words {
		text := w.text
		if strings.HasPrefix(text, "-") {
			i := strings.IndexAny(text, "=/~")
			if up := strings.Index(text, ".."); up >= 0 && (i < 0 || up < i) {
				i = up
			}
			if i < 0 {
				continue
			}
			text = strings.TrimPrefix(text[i:], "=")
		}
		if text != "" && w.fixed() {
			p.names = append(p.names, text)
		}
	}
}

// command notes the paths of one command.
func (p *paths) command(words []word) {
	name, ok := known(words[0].text)
	if !ok || !words[0].fixed() {
		p.noReads, p.noWrites = true, true
		return
	}
	args := words[1:]
	switch name {
	case "cd", "pushd": // what is named behind it begins there
		if p.mayName(args); len(args) == 0 || args[len(args)-1].text == "-" {
			p.names = append(p.names, "~") // or where it was before: anywhere
		}
	}
	if letters, ok := writerFlags(name); ok {
		p.writer(name, letters, args)
		return
	}
	r := readerFlags(name)
	if !p.readOnly && judgeCommand(name, args).why != "" {
		p.noReads, p.noWrites = true, true
		if r.listed {
			from := len(p.names)
			p.mayName(args)
			p.changes = append(p.changes, p.names[from:]...)
		}
		return
	}
	if printsOnly(name) {
		for _, a := range args {
			p.noReads = p.noReads || a.globs // that lists a folder
		}
		return
	}
	if !r.listed {
		p.noReads, p.noWrites = true, true
		return
	}
	operands, why := r.check(args)
	if why != "" {
		p.noReads = true // a flag may name a file
		p.mayName(args)
		return
	}
	switch name {
	case "date", "tr": // their operands are no files
		return
	case "grep", "egrep", "fgrep":
		operands = grepFiles(r, args, operands)
	case "ls", "du", "tree", "dir", "vdir":
		if len(operands) == 0 {
			operands = []word{{text: "."}}
		}
	}
	for _, o := range operands {
		p.add(&p.reads, &p.noReads, o)
		if name == "strings" && strings.HasPrefix(o.text, "@") {
			p.noReads = true // it reads more words from there
		}
	}
}

// grepFiles are the operands of grep that are files: all but the pattern, unless
// flags have it; where it goes through folders and none is named, this one.
func grepFiles(r row, args, operands []word) []word {
	given, folders := false, false
	for i := 0; i < len(args) && args[i].text != "--"; i++ {
		text := args[i].text
		if !strings.HasPrefix(text, "-") || text == "-" {
			continue
		}
		given = given || r.has(text, "-e") || r.has(text, "--regexp")
		folders = folders || r.has(text, "-r") || r.has(text, "-R") || text == "--recursive" || text == "--dereference-recursive"
		if takes, _ := r.flag(text); takes {
			i++
		}
	}
	if !given && len(operands) > 0 {
		operands = operands[1:]
	}
	if folders && len(operands) == 0 {
		return []word{{text: "."}}
	}
	return operands
}

// writer notes the paths of a program that writes the files it names and no
// others. What is computed may become a flag that names where cp and mv write.
func (p *paths) writer(name, letters string, args []word) {
	var operands []word
	for i, a := range args {
		if a.text == "--" {
			operands = append(operands, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			operands = append(operands, a)
			continue
		}
		if strings.Trim(a.text[1:], letters) != "" {
			p.noReads, p.noWrites = true, true
			from := len(p.names)
			p.mayName(args)
			p.changes = append(p.changes, p.names[from:]...)
			return
		}
	}
	for i, o := range operands {
		if name == "cp" || name == "mv" {
			p.add(&p.reads, &p.noReads, o)
			p.noWrites = p.noWrites || !o.fixed() || !o.one()
		}
		if name != "cp" || i == len(operands)-1 {
			p.add(&p.writes, &p.noWrites, o)
		}
	}
}
