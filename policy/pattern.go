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
)

// maxPattern and maxPath bound how long a comparison takes, in bytes. No system
// opens a longer path.
const maxPattern, maxPath = 2048, 4096

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
	kind  kind
	text  string   // the one spelling; paths: absolute
	parts []string // of a command its words, of a path what stands between slashes
}

// parsePattern reads one pattern. Without a kind it is a command. Where it fails,
// at is the offset of the fault.
func parsePattern(text, workspace string) (p pattern, at int, err error) {
	p.kind = kindCommand
	if word, rest, ok := strings.Cut(text, ":"); ok && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == "" {
		i := slices.IndexFunc(kinds(), func(k kind) bool { return k.String() == word })
		if i < 0 {
			return p, 0, fmt.Errorf("got %q, want command, path, host or args before the colon", word+":")
		}
		p.kind, at = kinds()[i], len(text)-len(strings.TrimLeft(rest, " "))
		text = text[at:]
	}
	if strings.Contains(text, `"`) {
		if text, err = strconv.Unquote(text); err != nil {
			return p, at, errors.New("got quotes around a part of a pattern, want them around the whole of it")
		}
	}
	if text == "" || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		return p, at, fmt.Errorf("got %q, want a pattern", text)
	}
	p.text = text
	if err = p.check(workspace); err == nil && len(p.text) > maxPattern {
		err = fmt.Errorf("got a pattern of %d bytes, want at most %d", len(p.text), maxPattern)
	}
	return p, at, err
}

// check makes the text the one spelling of the pattern.
func (p *pattern) check(workspace string) error {
	switch p.kind {
	case kindCommand:
		p.parts = strings.Fields(p.text)
		if len(p.parts) == 0 {
			return fmt.Errorf("got %q, want a command", p.text)
		}
		p.text = strings.Join(p.parts, " ")
	case kindPath:
		if err := p.place(workspace); err != nil {
			return err
		}
		p.parts = strings.Split(p.text, "/")
		if slices.ContainsFunc(p.parts, func(part string) bool { return strings.Contains(part, "**") && part != "**" }) {
			return fmt.Errorf("got %q, want ** alone between slashes", p.text)
		}
	case kindHost:
		text, ok := parseHostPattern(p.text)
		if !ok {
			return fmt.Errorf("got %q, want a host such as example.com, *.example.com or 127.0.0.1:8080", p.text)
		}
		p.text = text
	case kindArgs:
		if len(p.text) != 22 || strings.Trim(p.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return fmt.Errorf("got %q, want the 22 characters that name exact arguments", p.text)
		}
	}
	return nil
}

// place makes a path absolute.
func (p *pattern) place(workspace string) error {
	if strings.Contains(p.text, `\`) {
		return fmt.Errorf("got %q, want a path with slashes", p.text)
	}
	if !absolute(p.text) {
		switch {
		case workspace == "":
			return fmt.Errorf("got %q, want an absolute path: there is no workspace that it could be below", p.text)
		case !absolute(workspace) || !clean(workspace) || strings.Contains(workspace, "*"):
			return fmt.Errorf("got %q below the workspace %q, want that to be a clean absolute path with slashes and without *", p.text, workspace)
		}
		p.text = strings.TrimSuffix(workspace, "/") + "/" + strings.TrimPrefix(p.text, "./")
	}
	p.text = rooted(p.text)
	if !clean(p.text) {
		return fmt.Errorf("got %q, want a path without . .. // or / at the end", p.text)
	}
	return nil
}

// String is the pattern as it can be read again.
func (p pattern) String() string {
	text := p.text
	if strings.ContainsAny(text, `,()"`) || strings.Contains(text, ":") && p.kind == kindCommand || strings.TrimSpace(text) != text {
		text = strconv.Quote(text)
	}
	if p.kind == kindCommand && !strings.HasPrefix(text, `"`) {
		return text
	}
	return p.kind.String() + ": " + text
}

// covers reports whether a value certainly fits.
func (p pattern) covers(v value) bool {
	switch p.kind {
	case kindCommand:
		return !v.unclear() && globCommand(p.parts, v.words)
	case kindPath:
		return !v.unclear() && globPath(p.parts, rooted(v.text))
	case kindHost:
		h, ok := parseHost(v.text)
		return ok && globHost(p.text, h, true)
	case kindArgs:
		return p.text == v.text
	}
	return false
}

// meets reports whether a value may fit: what cannot be read does, and so does a
// folder that has in it what the pattern names.
func (p pattern) meets(v value) bool {
	switch p.kind {
	case kindCommand:
		return globCommand(p.parts, v.words) || v.unclear() && !p.differs(v.words)
	case kindPath:
		return v.unclear() || globPath(p.parts, rooted(v.text)) || above(rooted(v.text), p.parts)
	case kindHost:
		h, ok := parseHost(v.text)
		return !ok || globHost(p.text, h, false)
	case kindArgs:
		return p.text == v.text
	}
	return true
}

// differs reports whether a command that has a word which is not known is surely
// another than the pattern's: by a word that stands before it.
func (p pattern) differs(words []string) bool {
	if len(words) == 0 || words[0] == "" || strings.Contains(words[0], "=") {
		return false
	}
	for i, w := range words {
		if strings.Contains(w, "\x00") {
			return false
		}
		if i < len(p.parts) && !glob(p.parts[i], w) {
			return true
		}
	}
	return false
}

// globCommand matches word by word. A pattern that ends with * leaves the words
// that follow free.
func globCommand(want, got []string) bool {
	open := strings.HasSuffix(want[len(want)-1], "*")
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
func globPath(want []string, file string) bool {
	got := strings.Split(file, "/")
	// To where it came last with a **, and how much of the file that took.
	star, taken := -1, 0
	i, j := 0, 0
	for j < len(got) {
		switch {
		case i < len(want) && want[i] == "**":
			star, taken = i, j
			i++
		case i < len(want) && glob(want[i], got[j]):
			i++
			j++
		case star >= 0: // the ** takes one part more
			taken++
			i, j = star+1, taken
		default:
			return false
		}
	}
	for i < len(want) && want[i] == "**" {
		i++
	}
	return i == len(want)
}

// above reports whether a folder may have in it what a pattern names.
func above(folder string, want []string) bool {
	for i, d := range strings.Split(strings.TrimSuffix(folder, "/"), "/") {
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
func absolute(p string) bool { return strings.HasPrefix(p, "/") || onDrive(p) }

func onDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && p[2] == '/' && p[0] < utf8.RuneSelf && unicode.IsLetter(rune(p[0]))
}

// rooted is the one spelling of an absolute path: /c:/a for C:/a.
func rooted(p string) string {
	if onDrive(p) {
		p = "/" + p
	}
	if len(p) > 2 && p[2] == ':' && 'A' <= p[1] && p[1] <= 'Z' && (len(p) == 3 || p[3] == '/') {
		p = "/" + strings.ToLower(p[1:2]) + p[2:]
	}
	return p
}

// clean reports whether a path has one reading.
func clean(p string) bool {
	return utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl) && !strings.Contains(p, `\`) && path.Clean(p) == p
}
