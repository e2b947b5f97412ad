package shell

import (
	"slices"
	"strings"
)

// judgeGitLog judges what shows commits: a format may ask for signatures, which
// runs a program.
func judgeGitLog(name string) func([]word) string {
	return func(args []word) string {
		for _, a := range args {
			if name == "git reflog" && !a.fixed() {
				return shown(a) + " may become a command of it that writes"
			}
			if name == "git reflog" && slices.Contains([]string{"expire", "delete", "drop", "write", "exists"}, a.text) {
				return a.text + " may write"
			}
		}
		return judgeGitFormat(args)
	}
}

// judgeGitFormat refuses formats that check signatures, or are computed.
func judgeGitFormat(args []word) string {
	for i, a := range args {
		format := strings.HasPrefix(a.text, "--format") || strings.HasPrefix(a.text, "--pretty") || i > 0 && args[i-1].text == "--format"
		if strings.Contains(a.text, "%G") || strings.Contains(a.text, "signature") || format && !a.fixed() {
			return shown(a) + " may run the program that checks signatures"
		}
	}
	return ""
}

// judgeGitBranch judges git branch: an operand makes a branch, unless it is a
// pattern of those to list.
func judgeGitBranch(args []word) string {
	if why := judgeGitTag(args); why != "" {
		return why
	}
	if i := slices.IndexFunc(args, func(a word) bool { return a.text == "-l" }); i >= 0 && slices.ContainsFunc(args, func(a word) bool { return !strings.HasPrefix(a.text, "-") }) {
		return "-l has meant to keep a log of a new branch"
	}
	return ""
}

// judgeGitTag judges git tag: an operand makes a tag, unless a flag surely lists.
func judgeGitTag(args []word) string {
	operand, lists := "", false
	for i, a := range args {
		if a.text == "--" {
			return "-- may make what follows a new name"
		}
		name, _, _ := strings.Cut(a.text, "=")
		switch {
		case strings.HasPrefix(a.text, "-"):
			lists = lists || name == "--list" || name == "-l"
		case i > 0 && slices.Contains([]string{"--contains", "--no-contains", "--points-at"}, args[i-1].text) && a.one():
			lists = true
		case i > 0 && slices.Contains([]string{"--sort", "--format", "--merged", "--no-merged"}, args[i-1].text) && a.one():
		default:
			operand = shown(a)
		}
	}
	if operand != "" && !lists {
		return operand + " may be a new name"
	}
	return judgeGitFormat(args)
}

// judgeGitConfig judges git config: only asking.
func judgeGitConfig(args []word) string {
	const where = "-lz --global --local --system --worktree --show-origin --show-scope --name-only --null --includes --no-includes --file= -f: --blob= --type= --bool --int --path --default= --url= --all --regexp --value= --fixed-value"
	if len(args) > 0 && (args[0].text == "get" || args[0].text == "list") {
		_, why := flags(where + " :1").check(args[1:])
		return why
	}
	return needs("-l --list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool", where+" --list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool :2")(args)
}
