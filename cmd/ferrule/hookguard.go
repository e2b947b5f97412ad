package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/shell"
	"github.com/ferrule-dev/ferrule/tool"
)

// guardedLine is the word on a command line: what it names, as far as it can be read.
func (k *clientCall) guardedLine(line string) tool.Decision {
	j := shell.Judge(line)
	dirs := k.shellDirs(j)
	if len(dirs)*(len(j.Names)+len(j.Globs)) > maxShellNames {
		return guards("it names more files than can be looked at, and one of them may be one that decides what may run")
	}
	for _, check := range []func(string, shell.Judgement, []string) tool.Decision{k.guardedNames, k.guardedGlobs, k.guardedWords} {
		if d := check(line, j, dirs); d.Verdict != tool.Silent {
			return d
		}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// guardedNames is the word on the files that a line names, in each folder that it goes
// to.
func (k *clientCall) guardedNames(_ string, j shell.Judgement, dirs []string) tool.Decision {
	for _, dir := range dirs {
		for _, name := range j.Names {
			changes := slices.Contains(j.Changes, name)
			at, ok := k.placeIn(dir, name)
			switch {
			case !ok && changes:
				return guards("which file " + name + " is cannot be said, and it may be one that decides what may run")
			case !ok:
			case slices.ContainsFunc(k.hidden, func(h string) bool { return liesIn(at.real, h) || liesIn(at.given, h) }):
				return k.closed(name)
			case changes:
				if d := k.guarded(at); d.Verdict != tool.Silent {
					return d
				}
			}
		}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// guardedGlobs is the word on what the globs of a line may become.
func (k *clientCall) guardedGlobs(_ string, j shell.Judgement, dirs []string) tool.Decision {
	for _, glob := range j.Globs {
		changes := slices.Contains(j.ChangeGlobs, glob)
		for _, dir := range dirs {
			for _, h := range k.hidden {
				if mayBecome(dir, glob, h, false) {
					return guards(fmt.Sprintf("it may find %s, which belongs to Ferrule's own state", h))
				}
			}
			for _, name := range k.protected {
				if changes && mayBecome(dir, glob, name, true) {
					return guards(fmt.Sprintf("it may name %s, which decides what may run", name))
				}
			}
		}
	}
	return tool.Decision{Verdict: tool.Silent}
}

// mayBecome reports whether a glob may become a file, or something below it; with above
// also a folder that holds it.
func mayBecome(dir, glob, file string, above bool) bool {
	if !strings.HasPrefix(glob, "\x00") && !path.IsAbs(glob) {
		glob = filepath.ToSlash(dir) + "/" + glob
	}
	glob, file = path.Clean(glob), filepath.ToSlash(file)
	whole := globFile(glob)
	for at := file; ; at = path.Dir(at) {
		if whole.MatchString(at) {
			return true
		}
		if !above || at == path.Dir(at) {
			break
		}
	}
	for at := path.Dir(glob); at != path.Dir(at); at = path.Dir(at) {
		if strings.ContainsAny(at, "*\x00") && globFile(at).MatchString(file) {
			info, err := os.Stat(file)
			return err != nil || !info.Mode().IsRegular()
		}
	}
	return false
}

// globFile is what a glob of a shell fits: names that begin with a dot only where the
// dot stands there.
func globFile(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?is)^")
	for i := range len(glob) {
		switch c := glob[i]; {
		case c == 0:
			b.WriteString(".*")
		case c == '*' && i > 0 && glob[i-1] == '/':
			b.WriteString("([^./][^/]*)?")
		case c == '*':
			b.WriteString("[^/]*")
		case c >= 128:
			b.WriteString(".*") // a part of a character
		default:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		}
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}

// guardedWords is the word on a line by its words alone: a net below the others.
func (k *clientCall) guardedWords(line string, j shell.Judgement, _ []string) tool.Decision {
	bare := strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(line)
	computed := j.Commands == nil
	for _, words := range j.Commands {
		if strings.TrimSuffix(filepath.Base(words[0]), ".exe") == client {
			return guards("it runs ferrule, which can change the rules and answer questions")
		}
		computed = computed || strings.ContainsRune(words[0], 0)
	}
	if computed && slices.Contains(strings.FieldsFunc(bare, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()`$<>={}/", r) }), client) {
		return guards("it may run ferrule, which can change the rules and answer questions")
	}
	for _, text := range []string{line, bare} {
		word := k.mentions(text)
		if word == "" && !j.ReadOnly && strings.Contains(strings.ToLower(text), ".claude") {
			word = ".claude"
		}
		if word != "" && (!j.ReadOnly || word == ".ferrule") {
			return guards("it names " + word + ", which decides what may run")
		}
	}
	return tool.Decision{Verdict: tool.Silent}
}
