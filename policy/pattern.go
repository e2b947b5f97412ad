package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// kind is what a pattern is about.
type kind uint8

const (
	kindCommand kind = iota
	kindPath
	kindHost
	kindArgs
)

func kinds() []kind { return []kind{kindCommand, kindPath, kindHost, kindArgs} }

func (k kind) String() string { return [...]string{"command", "path", "host", "args"}[k] }

// pattern is one of a rule's patterns.
type pattern struct {
	kind kind
	text string // paths: absolute
}

// parsePattern reads one pattern. Without a kind it is a command.
func parsePattern(text string, quoted bool, workspace string) (pattern, error) {
	p := pattern{kind: kindCommand}
	if word, rest, ok := strings.Cut(text, ":"); ok && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == "" {
		i := slices.IndexFunc(kinds(), func(k kind) bool { return k.String() == word })
		switch {
		case i >= 0:
			p.kind, text = kinds()[i], strings.TrimSpace(rest)
		case word == "" || strings.HasPrefix(rest, " "):
			return p, fmt.Errorf("got %q, want command:, path:, host: or args:", word+":")
		}
	}
	if quoted {
		plain, err := strconv.Unquote(text)
		if err != nil {
			return p, errors.New("got quotes around a part of a pattern, want them around the whole of it")
		}
		text = plain
	}
	if text == "" || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		return p, fmt.Errorf("got %q, want a pattern", text)
	}
	p.text = text
	return p, p.check(workspace)
}

// check makes the text the one spelling of the pattern.
func (p *pattern) check(workspace string) error {
	switch p.kind {
	case kindCommand:
		words := strings.Fields(p.text)
		if len(words) == 0 {
			return fmt.Errorf("got %q, want a command", p.text)
		}
		p.text = strings.Join(words, " ")
	case kindPath:
		if strings.Contains(p.text, `\`) {
			return fmt.Errorf("got %q, want a path with slashes", p.text)
		}
		if !absolute(p.text) {
			if workspace == "" {
				return fmt.Errorf("got %q, want an absolute path: there is no workspace that it could be below", p.text)
			}
			p.text = strings.TrimSuffix(workspace, "/") + "/" + strings.TrimPrefix(p.text, "./")
		}
		if !clean(p.text) {
			return fmt.Errorf("got %q, want a path without . .. // or / at the end", p.text)
		}
		for part := range strings.SplitSeq(p.text, "/") {
			if strings.Contains(part, "**") && part != "**" {
				return fmt.Errorf("got %q, want ** alone between slashes", p.text)
			}
		}
	case kindHost:
		star := strings.HasPrefix(p.text, "*.")
		host, ok := hostName(strings.TrimPrefix(p.text, "*."))
		if p.text == "*" {
			host, ok, star = "*", true, false
		}
		if !ok {
			return fmt.Errorf("got %q, want a host such as example.com, *.example.com or 127.0.0.1:8080", p.text)
		}
		if p.text = host; star {
			p.text = "*." + host
		}
	case kindArgs:
		if len(p.text) != 22 || strings.Trim(p.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return fmt.Errorf("got %q, want the 22 characters that name exact arguments", p.text)
		}
	}
	return nil
}

// String is the pattern as it can be read again.
func (p pattern) String() string {
	text := p.text
	if strings.ContainsAny(text, `,()"`) || strings.Contains(text, ":") && p.kind == kindCommand {
		text = strconv.Quote(text)
	}
	if p.kind == kindCommand && !strings.HasPrefix(text, `"`) {
		return text
	}
	return p.kind.String() + ": " + text
}

// covers reports whether a value certainly fits.
func (p pattern) covers(v string) bool {
	switch p.kind {
	case kindCommand:
		return globCommand(p.text, v)
	case kindPath:
		return absolute(v) && clean(v) && globPath(p.text, v)
	case kindHost:
		host, ok := hostName(v)
		return ok && globHost(p.text, host)
	case kindArgs:
		return p.text == v
	}
	return false
}

// meets reports whether a value may fit: what cannot be read does, and so does a
// folder that has in it what the pattern names.
func (p pattern) meets(v string) bool {
	switch p.kind {
	case kindCommand:
		return v == "" || p.covers(v)
	case kindPath:
		return !absolute(v) || !clean(v) || globPath(p.text, v) || above(v, p.text)
	case kindHost:
		host, ok := hostName(v)
		return !ok || globHost(p.text, host)
	case kindArgs:
		return p.text == v
	}
	return true
}

// about is what is known of one kind of thing that a call is about.
type about struct {
	list   []string
	stated []string // of them: by the tool's Facts
	known  bool
}

// aboutOf is what a call is about, by the tool's Facts and its claims.
func aboutOf(q *tool.Request) [kindArgs]about {
	facts, err := q.Args.Facts()
	if err != nil {
		facts = tool.Facts{}
	}
	var all [kindArgs]about
	commands := about{known: facts.Commands != nil}
	for _, words := range facts.Commands {
		commands.list = append(commands.list, joinWords(words))
	}
	commands.stated = commands.list
	all[kindCommand] = commands
	paths := about{list: facts.Paths, stated: facts.Paths, known: facts.Paths != nil || q.Claims.Touches != nil}
	for _, a := range q.Claims.Touches {
		if file, ok := strings.CutPrefix(a.Resource, "file:"); ok {
			if file == "" { // every file
				file = "/"
			}
			paths.list = append(slices.Clip(paths.list), file)
		}
	}
	all[kindPath] = paths
	all[kindHost] = about{list: facts.Hosts, stated: facts.Hosts, known: facts.Hosts != nil || q.Claims.Local}
	return all
}

// joinWords writes a command as one text in which words stay apart: NUL is in
// none, and a command with one in a word, or without words, is "".
func joinWords(words []string) string {
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "\x00") }) {
		return ""
	}
	return strings.Join(words, "\x00")
}

// globCommand matches word by word. A pattern that ends with * leaves the words
// that follow free.
func globCommand(pattern, command string) bool {
	if command == "" {
		return false
	}
	want, got := strings.Fields(pattern), strings.Split(command, "\x00")
	open := strings.HasSuffix(pattern, "*")
	if len(got) < len(want) || len(got) > len(want) && !open {
		return false
	}
	for i, w := range want {
		if !glob(w, got[i]) {
			return false
		}
	}
	return true
}

// glob matches a text in which * stands for any characters.
func glob(pattern, text string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}

// globPath matches part by part; ** stands for any number of parts, at the end
// also for none.
func globPath(pattern, file string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(file, "/")
	// fits[j]: the parts of the pattern so far fit the first j parts of the file.
	fits := make([]bool, len(got)+1)
	fits[0] = true
	for _, w := range want {
		next := make([]bool, len(got)+1)
		for j := range next {
			if w == "**" {
				next[j] = fits[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && fits[j-1] && glob(w, got[j-1])
			}
		}
		fits = next
	}
	return fits[len(got)]
}

// above reports whether a folder may have in it what a pattern names.
func above(folder, pattern string) bool {
	dirs, want := strings.Split(strings.TrimSuffix(folder, "/"), "/"), strings.Split(pattern, "/")
	for i, d := range dirs {
		if i >= len(want) || want[i] == "**" {
			return i < len(want)
		}
		if !glob(want[i], d) {
			return false
		}
	}
	return true
}

// absolute reports whether a path begins at the root, or at that of a drive.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/' && unicode.IsLetter(rune(p[0]))
}

// clean reports whether a path has one reading.
func clean(p string) bool {
	return utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl) && !strings.Contains(p, `\`) &&
		!slices.Contains(strings.Split(p, "/"), "..") && path.Clean(p) == p
}

// hostName is the one spelling of a host, with its port if it has one; ok is
// false for what is no host: a look-alike in other letters, a part of an address
// before an @, a path.
func hostName(h string) (name string, ok bool) {
	host, port := h, ""
	if strings.HasPrefix(h, "[") { // an address with colons
		in, after, closed := strings.Cut(h[1:], "]")
		if !closed || strings.Trim(in, "0123456789abcdefABCDEF:.") != "" || strings.Count(in, ":") < 2 {
			return "", false
		}
		host, port = "["+strings.ToLower(in)+"]", after
	} else {
		if i := strings.LastIndexByte(h, ':'); i >= 0 {
			host, port = h[:i], h[i:]
		}
		host = strings.TrimSuffix(strings.ToLower(host), ".")
		for label := range strings.SplitSeq(host, ".") {
			if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
				return "", false
			}
		}
	}
	if port != "" && (len(port) < 2 || len(port) > 6 || port[0] != ':' || strings.Trim(port[1:], "0123456789") != "") {
		return "", false
	}
	return host + port, true
}

// globHost matches a host; a pattern without a port fits each of its ports.
func globHost(pattern, host string) bool {
	if pattern == "*" {
		return true
	}
	fits := func(host string) bool {
		if sub, ok := strings.CutPrefix(pattern, "*"); ok {
			return strings.HasSuffix(host, sub) && len(host) > len(sub)
		}
		return host == pattern
	}
	if fits(host) {
		return true
	}
	i := strings.LastIndexByte(host, ':')
	return i >= 0 && !strings.HasSuffix(host, "]") && fits(host[:i])
}
