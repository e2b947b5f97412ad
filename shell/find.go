package shell

import "strings"

// judgeFind judges find: where it looks, and that its expression only tests and
// prints. A word that is computed may stand where a test takes a value.
func judgeFind(args []word) string {
	expression := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		text := a.text
		switch {
		case a.fixed() && (text == "(" || text == ")" || text == "!" || text == ","):
			expression = true
			continue
		case a.plain() && !strings.HasPrefix(text, "(") && !strings.HasPrefix(text, "!"):
			if expression {
				return shown(a) + " stands where a test should"
			}
			continue
		case !a.fixed() || text == "":
			return shown(a) + " may become an action"
		}
		switch text {
		case "-H", "-L", "-P", "-O1", "-O2", "-O3":
			continue
		}
		expression = true
		switch text {
		case "-a", "-and", "-o", "-or", "-not", "-true", "-false", "-depth", "-d", "-mount", "-xdev", "-x", "-noleaf", "-daystart", "-follow", "-ignore_readdir_race", "-noignore_readdir_race", "-warn", "-nowarn",
			"-empty", "-executable", "-readable", "-writable", "-nogroup", "-nouser", "-print", "-print0", "-prune", "-quit", "-ls", "-help", "--help", "-version", "--version", "-acl":
		case "-amin", "-anewer", "-atime", "-cmin", "-cnewer", "-ctime", "-fstype", "-gid", "-group", "-ilname", "-iname", "-inum", "-ipath", "-iregex", "-iwholename", "-links", "-lname", "-maxdepth", "-mindepth", "-mmin", "-mtime",
			"-name", "-newer", "-neweraa", "-newerac", "-neweram", "-newerat", "-newerca", "-newercc", "-newercm", "-newerct", "-newerma", "-newermc", "-newermm", "-newermt", "-newerBt",
			"-path", "-perm", "-printf", "-regex", "-regextype", "-samefile", "-size", "-type", "-uid", "-used", "-user", "-wholename", "-xtype", "-context", "-flags", "-Bmin", "-Btime":
			if i++; i >= len(args) {
				return text + " lacks its value"
			}
			if v := args[i]; v.splits || v.braces || v.many && !noAction(v) {
				return shown(v) + " may become more than one word"
			}
		default:
			return "the action " + text + " is not among those that only read"
		}
	}
	return ""
}

// noAction reports whether no file that a glob finds is an action: they may
// stand for more than the value, but all have a dot or a slash in them. One in
// brackets is only one of the characters that may stand there.
func noAction(glob word) bool {
	return strings.ContainsAny(glob.start(), "./") || strings.ContainsAny(glob.text[strings.LastIndexByte(glob.text, ']')+1:], "./")
}
