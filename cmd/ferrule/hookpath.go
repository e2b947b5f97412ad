package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// clientPlace is a file that a call names.
type clientPlace struct {
	given   string // cleaned, absolute
	real    string // what it leads to
	inside  bool   // that lies in the workspace
	there   bool
	regular bool // it is a file
	written bool
}

// place is the file of a name. It is not named where what it leads to cannot be
// said.
func (k *clientCall) place(name string) (at clientPlace, ok bool) {
	if name == "" || strings.ContainsRune(name, 0) {
		return at, false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(k.dir, name)
	}
	at.given = filepath.Clean(name)
	var err error
	if at.real, err = resolveExisting(at.given); err != nil {
		return at, false
	}
	at.inside = below(at.real, k.root)
	if info, err := os.Stat(at.real); err == nil {
		at.there, at.regular = true, info.Mode().IsRegular()
	}
	return at, true
}

// maxAbove is how many folders of a path may be missing.
const maxAbove = 256

// resolveExisting is a path without symlinks, as far as it is there.
func resolveExisting(path string) (string, error) {
	rest := ""
	for range maxAbove {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(target, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("%s is a link that leads nowhere", path) // yet
		}
		up := filepath.Dir(path)
		if up == path {
			return "", err
		}
		rest, path = filepath.Join(filepath.Base(path), rest), up
	}
	return "", errors.New("too many folders are missing")
}

// below reports whether a path is another or lies below it.
func below(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// meets reports whether two paths are one, or one lies below the other: whatever the
// case, which many file systems do not mind.
func meets(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return below(a, b) || below(b, a)
}

// liesIn is below, whatever the case.
func liesIn(path, root string) bool { return below(strings.ToLower(path), strings.ToLower(root)) }

// slash is where the file really is, as rules name it.
func (at clientPlace) slash() string { return filepath.ToSlash(at.real) }

// names are all that rules must speak about: what was named, and what it leads to.
func (at clientPlace) names() []string {
	list := []string{at.slash()}
	if given := filepath.ToSlash(at.given); given != list[0] && !at.inside {
		list = append(list, given)
	}
	return list
}

func (at clientPlace) resource() string {
	name := at.slash()
	if !strings.HasPrefix(name, "/") {
		name = "/" + strings.ToLower(name[:min(len(name), 1)]) + name[min(len(name), 1):] // the letter of a drive
	}
	return "file:" + name
}

// clientProtected are the files that decide what may run: those of Ferrule, and those
// of the client that hold its hooks, its rules and its servers.
func (p *program) clientProtected(c *config.Config) []string {
	root, home := filepath.FromSlash(c.Workspace), p.homeDir()
	list := p.protected(c)
	for _, dir := range []string{root, p.dir, home} {
		for _, name := range []string{"settings.json", "settings.local.json", "hooks"} {
			list = append(list, filepath.Join(dir, ".claude", name))
		}
	}
	list = append(list,
		filepath.Join(root, config.Name), filepath.Join(root, ".ferrule"), filepath.Join(root, ".mcp.json"), filepath.Join(p.dir, ".mcp.json"), filepath.Join(home, ".claude.json"))
	if p.self != "" {
		list = append(list, p.self)
	}
	for i, name := range list {
		name = filepath.Clean(filepath.FromSlash(name))
		if to, err := resolveExisting(name); err == nil {
			name = to
		}
		list[i] = name
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// permit keeps the rules from being changed, and the state from being read, whatever
// a wildcard allows: a person must say it for this one call, or nobody can.
func (k *clientCall) permit(a clientArgs) tool.Decision {
	switch k.kind {
	case clientReads, clientLooks, clientWrites:
		at, ok := k.path(a)
		if !ok {
			return guards("which file it is about cannot be said, and it may be one that decides what may run")
		}
		if slices.ContainsFunc(k.hidden, func(h string) bool { return liesIn(at.real, h) || liesIn(at.given, h) }) {
			return k.closed(at.real)
		}
		if k.kind == clientWrites {
			return k.guarded(at)
		}
		for _, name := range []string{"pattern", "glob"} {
			if text, _ := a.text(name); k.name != "Grep" || name != "pattern" {
				if strings.Contains(strings.ToLower(text), ".ferrule") {
					return k.closed(text)
				}
			}
		}
	case clientShell:
		line, _ := a.text("command")
		return k.guardedLine(line)
	case clientUnknown:
		if word := k.mentions(a.words()); word != "" {
			return guards(fmt.Sprintf("its arguments name %s, which decides what may run", word))
		}
	case clientFetches, clientSearches, clientInside, clientPersonal:
	}
	return tool.Decision{Verdict: tool.Silent}
}

// closed is the word on the state of this program: what was asked and answered, and
// copies of files, are in there.
func (k *clientCall) closed(name string) tool.Decision {
	return tool.Decision{Verdict: tool.Deny, Rule: "protected files", Reason: name + " belongs to Ferrule's own state, which no tool reads or changes"}
}

// guards asks, whatever the rules say.
func guards(why string) tool.Decision {
	return tool.Decision{Verdict: tool.Deny, Override: true, Rule: "protected files", Reason: why + ": a person must allow exactly this"}
}

// guarded is the word on a change of a file.
func (k *clientCall) guarded(at clientPlace) tool.Decision {
	is, err := os.Stat(at.real)
	for _, name := range k.protected {
		same := meets(at.real, name) || liesIn(at.given, name)
		if other, gone := os.Stat(name); err == nil && gone == nil {
			same = same || os.SameFile(is, other) // another name of it
		}
		if same {
			return guards(at.given + " decides what may run")
		}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// mentions is the first name of a protected file that stands in a text; "": none. It
// is a net below the others: a text can name a file in ways that nobody sees.
func (k *clientCall) mentions(text string) string {
	text = strings.ToLower(filepath.ToSlash(text))
	for _, word := range []string{".ferrule", config.Name, ".claude/settings", ".claude/hooks", ".claude.json", ".mcp.json"} {
		if strings.Contains(text, word) {
			return word
		}
	}
	return ""
}

// Bounds of a preview: a person reads it.
const (
	maxPreviewed = 1 << 20  // bytes of what is compared
	maxPreview   = 32 << 10 // bytes of the text
)

// preview is what a call would do, for a person.
func (k *clientCall) preview(a clientArgs) string {
	text := k.describe(a)
	switch {
	case k.kind == clientShell:
		text = fmt.Sprintf("%s\nin %s, run by %s itself: nothing here isolates it", text, k.dir, hookClient)
		line, _ := a.text("command")
		if j := shell.Judge(line); !j.ReadOnly && j.Why != "" {
			text += "\nit may change something: " + j.Why
		}
	case k.name == "Write":
		if at, ok := k.path(a); ok {
			will, _ := a.text("content")
			text += "\n" + k.diff(at, will)
		}
	case k.name == "Edit":
		old, _ := a.text("old_string")
		will, _ := a.text("new_string")
		if len(old)+len(will) <= maxPreviewed {
			text += "\n" + udiff.Unified("old", "new", old, will)
		}
	}
	if len(text) > maxPreview {
		text = strings.ToValidUTF8(text[:maxPreview], "") + "\n[more]"
	}
	return text
}

// diff is what writing a file changes.
func (k *clientCall) diff(at clientPlace, will string) string {
	info, err := os.Stat(at.real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "a new file:\n" + will
	case err != nil || !info.Mode().IsRegular() || info.Size()+int64(len(will)) > maxPreviewed:
		return fmt.Sprintf("it becomes %d bytes", len(will))
	}
	was, err := os.ReadFile(at.real)
	if err != nil || bytes.IndexByte(was, 0) >= 0 {
		return fmt.Sprintf("it becomes %d bytes", len(will))
	}
	return strings.ToValidUTF8(udiff.Unified("a", "b", string(was), will), "\uFFFD")
}
