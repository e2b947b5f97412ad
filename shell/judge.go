package shell

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Judgement is what a command line can do. The zero Judgement knows nothing,
// and promises nothing.
type Judgement struct {
	// ReadOnly: nothing in the line can change lasting state: files, processes,
	// the machine, the network.
	ReadOnly bool
	// Why says why the line is not ReadOnly, for the operator and the model. It
	// names the command and the word.
	Why string
	// Local: nothing in the line can reach outside this machine.
	Local bool
	// Git: some command is git, and wants [GitEnvironment], or may be, because
	// not all commands are known.
	Git bool
	// Environment: some word or command may show a variable that the line has not
	// set itself, but HOME, PWD and others that tell nobody anything. In a clean
	// environment it does not matter.
	Environment bool
	// Commands are all simple commands of the line, word by word and unquoted,
	// also those within others: in substitutions, in subshells, behind env,
	// sudo, xargs, timeout, find -exec, bash -c and eval. A word that is
	// computed when the line runs has a NUL in it. What changes something
	// without a command stands as one: > FILE for a redirection, & for a process
	// left behind, NAME=VALUE. nil: not all can be known.
	Commands [][]string
	// Reads and Writes are the paths that are named, as they are written, with
	// what is below them. nil: they cannot be named.
	Reads, Writes []string
	// Names are what commands that work on the files they name may name, also where
	// Reads or Writes are nil: because of other commands, or of a flag that is not
	// known. A word that is no path may be among them.
	Names []string
	// Changes are those of Names that a command may write.
	Changes []string
	// Globs are the words of which a part is only known when the line runs: a *
	// stands for what a glob becomes, a NUL for anything else. ChangeGlobs are those
	// of commands that may change something.
	Globs, ChangeGlobs []string
}

// maxLine is how long a line may be, in bytes, and maxDepth how deep it may be
// nested: who judges by a line must be able to read it.
const maxLine, maxDepth = 16 << 10, 50

// Judge reads a line as bash would. It never fails: what cannot be read is not
// ReadOnly, and its commands are not known.
func Judge(line string) Judgement {
	file, err := parse(line)
	if err != nil {
		return Judgement{Why: err.Error(), Git: true, Environment: true}
	}
	w := walker{file: file, local: true}
	w.stmts(file.Stmts, 0)
	j := Judgement{ReadOnly: w.why == "", Why: w.why, Local: w.local}
	c := collector{file: file}
	c.collect(file)
	j.Git = c.unknown
	if !c.unknown {
		j.Commands = c.commands
		if j.Commands == nil {
			j.Commands = [][]string{}
		}
	}
	for _, words := range c.commands {
		if base(words[0]) == "git" {
			j.Git = true
		}
	}
	j.Environment = c.unknown || showsEnvironment(file, c.commands)
	p := pathsOf(file, j.ReadOnly)
	j.Reads, j.Writes, j.Names, j.Changes = p.reads, p.writes, p.names, p.changes
	j.Globs, j.ChangeGlobs = globsOf(file)
	return j
}

// parse reads a line, and refuses what no honest line has in it.
func parse(line string) (*syntax.File, error) {
	if len(line) > maxLine {
		return nil, fmt.Errorf("the line: got %d bytes, want at most %d", len(line), maxLine)
	}
	if !utf8.ValidString(line) {
		return nil, errors.New("the line: got bytes that are not UTF-8")
	}
	// A comment ends with its line for bash; the parser lets it go on behind a
	// backslash, and would take the next command for its words.
	for l := range strings.Lines(line) {
		if strings.HasSuffix(l, "\\\n") && strings.Contains(l, "#") {
			return nil, errors.New("the line: got # before a backslash at the end of a line, want one of them")
		}
	}
	depth := 0
	for _, c := range line {
		switch {
		case c == '\n' || c == '\t':
		case unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029':
			return nil, fmt.Errorf("the line: got the character %q, want none that cannot be seen", c)
		case c == '(' || c == '{' || c == '`' || c == '[':
			depth++
		}
	}
	if depth > 20*maxDepth {
		return nil, fmt.Errorf("the line: got %d parentheses and braces, want at most %d", depth, 20*maxDepth)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("the line cannot be read: %w", err)
	}
	return file, nil
}
