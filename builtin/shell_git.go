package builtin

import (
	"slices"
	"strings"
)

// This file is about git, whose configuration and attributes can name programs
// that a read then runs: to watch files, to show a diff, to turn a file into
// text, to check a signature, to page. For a line that is judged to read only
// they are switched off. The line could change nothing by them, since it runs
// without the right to write, but nor should it run what a repository brings.

// shellGitPlain reports whether every git of a line is run by bash itself, under
// this name: then shellGit stands before it.
func shellGitPlain(commands [][]string) bool {
	for _, words := range commands {
		if len(words) == 0 || words[0] == "git" {
			continue
		}
		if slices.ContainsFunc(words, func(w string) bool { return w == "git" || strings.HasSuffix(w, "/git") }) {
			return false
		}
	}
	return true
}

// shellGit is a function that stands before git. Drivers of diffs have any names,
// so no setting switches them all off; the commands that use them have flags for
// it, which go behind the command, wherever that stands among git's own options.
// Nor is git run in submodules to see whether they changed: it would not have
// this environment there, and a submodule's own setting wins over the one here.
// It is one line, so that bash counts the lines of what follows as they are.
const shellGit = `git() { local a=() s=; ` +
	`while (($#)); do case $1 in ` +
	`-C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--exec-path) a+=("$1" "${2-}"); shift;; ` +
	`-*) a+=("$1");; ` +
	`*) s=$1; break;; esac; shift; done; ` +
	`case $s in ` +
	`diff|log|show|whatchanged|diff-tree|diff-index|diff-files|shortlog) shift; set -- "$s" --no-ext-diff --no-textconv --ignore-submodules=dirty "$@";; ` +
	`stash|reflog) case "$s ${2-}" in ` +
	`"stash list"|"stash show"|"reflog show") a+=("$s"); s=$2; shift 2; set -- "$s" --no-ext-diff --no-textconv --ignore-submodules=dirty "$@";; ` +
	`"stash "*|"reflog list") ;; ` +
	`*) shift; set -- "$s" --no-ext-diff --no-textconv --ignore-submodules=dirty "$@";; esac;; ` +
	`status) shift; set -- status --ignore-submodules=dirty "$@";; ` +
	`blame|annotate) shift; set -- "$s" --no-textconv "$@";; ` +
	`esac; command git "${a[@]}" "$@"; }; readonly -f git; `
