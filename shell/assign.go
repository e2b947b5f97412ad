package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign judges NAME=VALUE. Before a command it is in that command's
// environment, and only few names are sure to change nothing of what it does;
// by itself it is a variable of the shell, unless the name has a meaning.
func (w *walker) assign(a *syntax.Assign, before bool, depth int) {
	if a.Name == nil {
		w.unclear("an assignment that is not judged")
		return
	}
	name := a.Name.Value
	w.index(a.Index, depth)
	w.word(a.Value, depth)
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			w.index(e.Index, depth)
			w.word(e.Value, depth)
		}
	}
	switch {
	case !before && ownVariable(name):
	case a.Index != nil || a.Array != nil || !harmless(name, readWord(a.Value)):
		w.unclear("%s=: may change what commands do", name)
	}
}

// ownVariable reports whether a name is one that scripts make up: no program
// looks at it. By habit those have lower case letters.
func ownVariable(name string) bool {
	if !identifier(name) || strings.HasSuffix(name, "_proxy") {
		return false
	}
	return len(name) == 1 && name != "_" || strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz")
}

// identifier reports whether a text is the name of a variable, without an index.
func identifier(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// harmless reports whether a variable in a command's environment changes only
// how it shows things.
func harmless(name string, value word) bool {
	if !value.fixed() {
		return false
	}
	switch name {
	case "LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "LC_MONETARY", "TZ":
		return !strings.Contains(value.text, "..") && !strings.HasPrefix(value.text, ":") && !strings.HasPrefix(value.text, "/") // no file by its path
	case "COLUMNS", "LINES", "NO_COLOR", "CLICOLOR", "FORCE_COLOR", "GREP_COLOR", "GREP_COLORS", "LS_COLORS", "TIME_STYLE", "BLOCKSIZE", "BLOCK_SIZE":
		return true
	case "IFS": // by others a path such as $HOME becomes more than one word
		return strings.Trim(value.text, " \t\n,:;|") == ""
	}
	return false
}

// declare judges export, declare, local, readonly, typeset and nameref.
func (w *walker) declare(c *syntax.DeclClause, depth int) {
	variant := c.Variant.Value
	for _, a := range c.Args {
		if a.Name == nil || a.Naked {
			// A flag, or a name that is only marked: -n makes a reference, -i
			// evaluates, -x exports.
			text := readWord(a.Value).text
			if a.Name != nil {
				text = a.Name.Value
			}
			w.word(a.Value, depth)
			if text != "-p" {
				w.unclear("%s %s: may change what commands do", variant, text)
			}
			continue
		}
		w.assign(a, true, depth)
	}
}
