package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// searches is the word on a search: what it shows, beside what lies in the folder that
// it begins in, may be what nobody reads. The client's searches pass over what ignore
// files name, unless their glob fits it.
func (k *clientCall) searches(a clientArgs, at clientPlace) tool.Decision {
	silent := tool.Decision{Verdict: tool.Silent}
	text, _ := a.text(map[string]string{"Glob": "pattern", "Grep": "glob"}[k.name])
	if strings.Contains(strings.ToLower(text), ".ferrule") && !strings.HasPrefix(text, "!") {
		return k.closed(text)
	}
	shows, _ := a.text("output_mode")
	for _, h := range k.hidden {
		if !liesIn(h, at.real) {
			continue
		}
		switch info, err := os.Stat(h); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return guards("whether it finds " + h + " cannot be said, which belongs to Ferrule's own state")
		case k.name == "Glob": // it shows names alone
			if pointsAt(text, filepath.Base(h)) {
				return guards(fmt.Sprintf("its pattern finds %s, which belongs to Ferrule's own state", h))
			}
		case k.name == "Grep" && len(globsOf(text)) > 0:
			if found := findsIn(globsOf(text), at.real, h); found != "" {
				return guards(fmt.Sprintf("its glob finds %s, which belongs to Ferrule's own state", found))
			}
		case k.name == "Grep" && shows == "content" && (!info.IsDir() || !passedOver(h)):
			return guards(fmt.Sprintf("it shows what is in %s, which belongs to Ferrule's own state", h))
		}
	}
	return silent
}

// passedOver reports whether ignore files keep searches out of a folder.
func passedOver(dir string) bool {
	for _, name := range []string{".ignore", ".rgignore"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.TrimSpace(string(text)) != "*" {
			return false
		}
	}
	return true
}

// globsOf are the globs of a search that say what is found: the client takes more than
// one, with blanks or commas between them.
func globsOf(text string) (list []string) {
	for part := range strings.FieldsSeq(text) {
		parts := []string{part}
		if !strings.Contains(part, "{") {
			parts = strings.Split(part, ",")
		}
		for _, one := range parts {
			if one != "" && !strings.HasPrefix(one, "!") {
				list = append(list, one)
			}
		}
	}
	return list
}

// maxSearched is how many files are looked at for one that a glob finds.
const maxSearched = 5000

// findsIn is the first file below a hidden one that a glob would find from a folder;
// "": none is.
func findsIn(globs []string, from, hidden string) (found string) {
	var all []*regexp.Regexp
	for _, g := range globs {
		r, err := globFits(g)
		if err != nil {
			return hidden
		}
		all = append(all, r)
	}
	seen := 0
	err := filepath.WalkDir(hidden, func(path string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxSearched {
			found = hidden // it may be there
			return fs.SkipAll
		}
		rel, err := filepath.Rel(from, path)
		if err != nil || d.IsDir() {
			return err
		}
		for _, r := range all {
			if r.MatchString(filepath.ToSlash(rel)) {
				found = path
				return fs.SkipAll
			}
		}
		return nil
	})
	if err != nil {
		return hidden
	}
	return found
}

// globFits is a glob as an expression that fits everything that it fits, in whatever
// folder it is meant to begin, and some more.
func globFits(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("(?is)^(.*/)?")
	deep := 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '*':
			b.WriteString(".*")
			if strings.HasPrefix(glob[i:], "**/") { // it may be no folder
				i += 2
			}
		case c == '?', c == '[':
			b.WriteString(".")
			if end := strings.IndexByte(glob[i+1:], ']'); c == '[' && end >= 0 {
				i += 1 + end
			}
			if c == '[' {
				b.WriteString("*") // also where ] is one of the characters
			}
		case c == '{':
			deep++
			b.WriteString("(")
		case c == '}' && deep > 0:
			deep--
			b.WriteString(")")
		case c == ',' && deep > 0:
			b.WriteString("|")
		case c == '\\':
		case c == '/' && i == 0:
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString("(/.*)?$")
	return regexp.Compile(b.String())
}

// pointsAt reports whether a part of a pattern fits a name, and says more than that it
// is any.
func pointsAt(pattern, name string) bool {
	for part := range strings.SplitSeq(pattern, "/") {
		if strings.Trim(part, "*") == "" {
			continue
		}
		if r, err := globFits(part); err != nil || r.MatchString(name) {
			return true
		}
	}
	return false
}
