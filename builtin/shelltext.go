package builtin

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/sandbox"
)

// shellDied is what a Box says of commands that it has lost.
const shellDied = "the sandbox died"

// shellEnding says how a command ended; "": well. why is what it was stopped for
// by the call.
func shellEnding(o sandbox.Outcome, why string, l sandbox.Limits) string {
	if why == "" {
		switch o.Stopped {
		case "":
		case "time":
			why = "it took longer than " + l.Time.String()
		case "output":
			why = "more than " + shellSize(l.Output) + " of output"
		case "memory":
			why = "more than " + shellSize(shellOr(l.Memory, 4<<30)) + " of memory"
		case "processes":
			why = fmt.Sprintf("more than %d processes", shellOr(l.Processes, 512))
		case "stopped", "context":
			return "[stopped]"
		default:
			why = o.Stopped
		}
	}
	switch {
	case why != "":
		return "[stopped: " + why + "]"
	case o.Signal != "":
		return "[ended by signal " + strings.TrimPrefix(o.Signal, "SIG") + "]"
	case o.Code != 0:
		return fmt.Sprintf("[exit status %d]", o.Code)
	}
	return ""
}

// shellSize is a number of bytes in words.
func shellSize(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// shellIsolation is what was applied, in one line.
func shellIsolation(a sandbox.Applied) string {
	network := "network " + string(a.Network)
	if a.Network == sandbox.Loopback {
		network = "a loopback of its own"
	}
	text := string(a.Level) + ", " + network
	if len(a.Kernel) > 0 {
		text += " (" + strings.Join(a.Kernel, ", ") + ")"
	}
	if len(a.Missing) > 0 {
		text += "; missing: " + strings.Join(a.Missing, "; ")
	}
	return text
}

// hints explain what the sandbox refused, as far as that can be seen in what a
// failing command wrote to stderr: which path or that it was the network, and
// what would have to be configured.
func (p *process) hints() string {
	h, text := p.session.host, p.out.complaints()
	var list []string
	add := func(format string, args ...any) {
		if line := "\n[sandbox] " + fmt.Sprintf(format, args...); !slices.Contains(list, line) && len(list) < 3 {
			list = append(list, line)
		}
	}
	for line := range strings.Lines(text) {
		path, missing := shellRefused(strings.TrimSpace(line))
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.dir, path)
		}
		// Only links that the command sees are followed: a hint must not tell what
		// there is outside.
		if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && shellBelow(path, h.roots) {
			path = filepath.Join(folder, filepath.Base(path))
		}
		switch {
		case strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/"): // bash's names for the network
		case missing && !shellBelow(path, shellCovered()): // it is not there
		case shellBelow(path, h.config.Hidden):
			add("%s is hidden from commands, and no line of ferrule.yaml opens it.", path)
		case shellBelow(path, h.config.Protected):
			add("%s is protected: commands read it and cannot change it, and no line of ferrule.yaml allows that.", path)
		case !shellBelow(path, h.roots) && !shellBelow(path, h.config.Write):
			add("%s is outside the workspace. To allow it: sandbox.write: [%q] in ferrule.yaml, or sandbox.read if that is enough.", path, path)
		case p.readOnly:
			add("%s: the line was judged to read only, and ran without the right to write.", path)
		}
	}
	network := regexp.MustCompile(`(?i)network is unreachable|could not resolve host|temporary failure in name resolution|name or service not known|address family not supported|socket: operation not permitted`)
	if h.applied.Network != sandbox.Open && network.MatchString(text) {
		add("The network is %s. To open it: sandbox.network: open in ferrule.yaml.", h.applied.Network)
	}
	return strings.Join(list, "")
}

// shellRefused is the path in a line such as touch: cannot touch '/a/b': Permission
// denied, or sh: 1: cannot create /a/b: Permission denied; "": there is none. What
// is missing may be there, and only not to be seen.
func shellRefused(line string) (path string, missing bool) {
	for _, why := range []string{"Permission denied", "Read-only file system", "Operation not permitted", "No such file or directory"} {
		before, _, ok := strings.Cut(line, ": "+why)
		if !ok {
			continue
		}
		missing = why == "No such file or directory"
		if quoted := strings.TrimRight(before, `'"’`); quoted != before {
			return quoted[strings.LastIndexAny(quoted, `'"‘`)+1:], missing
		}
		before = before[strings.LastIndex(before, ": ")+1:]
		return strings.TrimSpace(before[strings.LastIndex(before, " ")+1:]), missing
	}
	return "", false
}

// shellCovered are folders of which a command may see another one, or none.
func shellCovered() []string {
	return []string{"/home", "/root", "/tmp", "/var/tmp", "/mnt", "/media", "/srv"}
}
