package main

import (
	"bytes"
	"cmp"
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

// clientProtected are the files that decide what may run: those of Ferrule, and those
// of the client that hold its hooks, its rules and its servers.
func (p *program) clientProtected(c *config.Config) []string {
	root, home := filepath.FromSlash(c.Workspace), p.homeDir()
	list := p.protected(c)
	own := cmp.Or(p.env("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude"))
	for _, dir := range []string{filepath.Join(root, ".claude"), filepath.Join(p.dir, ".claude"), filepath.Join(home, ".claude"), own} {
		for _, name := range []string{"settings.json", "settings.local.json", "hooks", "agents", "commands", "skills", "plugins"} {
			list = append(list, filepath.Join(dir, name))
		}
	}
	list = append(list,
		filepath.Join(root, config.Name), filepath.Join(root, ".ferrule"), filepath.Join(root, ".mcp.json"), filepath.Join(p.dir, ".mcp.json"),
		filepath.Join(home, ".claude.json"), filepath.Join(own, ".claude.json"))
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
		return k.searches(a, at)
	case clientShell:
		if a.says("dangerouslyDisableSandbox") {
			return guards("it would leave the client's sandbox")
		}
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
