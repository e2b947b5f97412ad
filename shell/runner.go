package shell

import (
	"slices"
	"strings"
)

// runner reports whether a program runs what its words name: other programs, or
// programs that are given to it as text. A rule for some words of it would be a
// rule for anything.
func runner(name string) bool {
	switch base(name) {
	case "bash", "sh", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "ash", "busybox", "toybox", "env", "sudo", "doas", "su", "runuser", "pkexec", "gosu", "setpriv", "capsh",
		"xargs", "parallel", "find", "fd", "fdfind", "watch", "entr", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "strace", "ltrace", "gdb", "lldb", "valgrind", "perf", "script", "expect", "unbuffer", "flock", "chroot", "unshare", "nsenter", "bwrap", "firejail", "systemd-run", "at", "batch", "crontab", "taskset", "chrt", "numactl", "prlimit", "setarch", "command", "builtin", "exec", "eval", "source", ".", "trap", "coproc", "function", "alias", "enable", "hash", "bind", "complete", "compgen", "mapfile", "readarray",
		"python", "python2", "python3", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish", "R", "Rscript", "julia", "guile", "racket", "emacs", "vim", "vi", "nvim", "ex", "ed", "nano", "less", "more", "man", "awk", "gawk", "mawk", "nawk", "sed", "m4", "java", "jshell", "osascript", "powershell", "pwsh",
		"ssh", "scp", "sftp", "rsync", "mosh", "docker", "podman", "kubectl", "nerdctl", "lxc", "vagrant", "ansible", "make", "gmake", "ninja", "cmake", "just", "task", "rake", "gradle", "mvn", "ant", "npx", "pnpx", "bunx", "uvx", "pipx", "tar", "rpm", "zip", "split", "sort", "tcpdump", "nmap", "nc", "ncat", "socat", "telnet", "ftp", "sqlite3", "psql", "mysql", "screen", "tmux", "dc", "git-shell", "jq-run", "rlwrap", "direnv", "nix", "nix-shell", "conda", "poetry", "pipenv", "rbenv", "pyenv", "asdf", "mise", "volta", "nvm", "rustup", "dotnet", "export", "declare", "typeset", "local", "readonly", "set", "shopt", "cd", "pushd", "popd", ">", ">>", ">|", "<", "<>", ">&", "<&", "&>", "&>>", "&":
		return true
	}
	return strings.Contains(name, "/")
}

// ranBy finds the commands that a command runs, and the script. It is not ok
// where there are some that cannot be read.
func ranBy(args []word) (ran [][]word, script *word, ok bool) {
	name, rest := base(args[0].text), args[1:]
	switch name {
	case "eval", "trap":
		if name == "eval" {
			var b strings.Builder
			for i, a := range rest {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(a.text)
			}
			return nil, &word{text: b.String()}, true
		}
		if len(rest) < 2 || strings.HasPrefix(rest[0].text, "-") {
			return nil, nil, true
		}
		return nil, &rest[0], true
	case "bash", "sh", "dash", "zsh", "ksh", "ash", "su", "runuser", "script", "watch":
		for i, a := range rest {
			short := strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--")
			if short && strings.Contains(a.text, "c") && i+1 < len(rest) {
				return nil, &rest[i+1], true
			}
			if a.text == "--command" && i+1 < len(rest) {
				return nil, &rest[i+1], true
			}
		}
		if name == "watch" {
			return [][]word{behindFlags(rest)}, nil, true
		}
		return nil, nil, !slices.ContainsFunc(rest, func(w word) bool { return !w.fixed() })
	case "find", "fd", "fdfind":
		return ranByFind(rest)
	case "env":
		rest = behindFlags(rest)
		for len(rest) > 0 && strings.Contains(rest[0].text, "=") {
			rest = rest[1:]
		}
		return [][]word{rest}, nil, true
	case "sudo", "doas", "xargs", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "command", "builtin", "exec", "strace", "ltrace", "valgrind", "unbuffer", "chroot", "parallel", "busybox", "flock", "taskset", "chrt", "systemd-run", "unshare", "nsenter", "firejail", "caffeinate", "rlwrap", "npx", "bunx", "uvx":
		rest = behindFlags(rest)
		switch name {
		case "timeout", "chroot", "flock", "taskset", "chrt":
			if len(rest) > 0 {
				rest = rest[1:]
			}
		case "sudo":
			for len(rest) > 0 && strings.Contains(rest[0].text, "=") {
				rest = rest[1:]
			}
		case "xargs", "parallel":
			if len(rest) > 0 {
				rest = append(slices.Clone(rest), word{text: computed, splits: true})
			}
		}
		return [][]word{rest}, nil, true
	}
	return nil, nil, true
}

// behindFlags are the words from the first that is no flag. A flag's value may
// be taken for the command: then each word is listed as if it began one, by who
// reads the rest; a rule that allows has the whole line to cover in any case.
func behindFlags(args []word) []word {
	for i, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			return args[i:]
		}
		if a.text == "--" {
			return args[i+1:]
		}
		switch a.text { // flags with a value, of sudo, xargs, nice, timeout and env
		case "-u", "-g", "-n", "-k", "-s", "-I", "-L", "-P", "-d", "-E", "-a", "-o", "-C", "-i", "-e", "-c", "-U", "-h", "-p", "-T", "-r", "-t":
			if i+2 < len(args) && takesNext(a.text, args[i+1].text) {
				return behindFlags(args[i+2:])
			}
		}
	}
	return nil
}

// takesNext guesses whether a word is the value of a flag before it: a number, a
// name in capitals, a placeholder.
func takesNext(flag, next string) bool {
	switch {
	case next == "" || strings.HasPrefix(next, "-"):
		return false
	case flag == "-I" || flag == "-u" || flag == "-g" || flag == "-U" || flag == "-d" || flag == "-a":
		return true
	}
	return strings.Trim(next, "0123456789.smhdkMGLKITER{}%") == ""
}

// ranByFind finds what stands behind -exec and its like, up to ; or +.
func ranByFind(args []word) (ran [][]word, script *word, ok bool) {
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			words := slices.Clone(args[i+1 : end])
			for j := range words {
				words[j].text = strings.ReplaceAll(words[j].text, "{}", computed)
			}
			ran = append(ran, words)
			i = end
		}
	}
	return ran, nil, true
}
