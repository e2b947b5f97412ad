package builtin

import (
	"bytes"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

// fsIgnore is what one .gitignore says.
type fsIgnore struct {
	dir   string // the folder it stands in, from the root; "." is that
	rules []fsIgnoreRule
}

type fsIgnoreRule struct {
	parts      []string
	again      bool // begins with !: not ignored after all
	folders    bool // ends in /: only folders
	everywhere bool // has no /: a name at any depth
	literal    bool // parts[0] is a name and no pattern
}

const fsMostIgnore = 1 << 20

// fsReadIgnore reads the .gitignore of a folder; one that cannot be read ignores
// nothing.
func fsReadIgnore(at *os.Root, dir string) *fsIgnore {
	f, _, err := inside.File(at, ".gitignore")
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, fsMostIgnore))
	if err != nil {
		return nil
	}
	return fsParseIgnore(text, dir)
}

func fsParseIgnore(text []byte, dir string) *fsIgnore {
	g := &fsIgnore{dir: dir}
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	for raw := range bytes.Lines(text) {
		line := strings.TrimRight(string(raw), "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r fsIgnoreRule
		line, r.again = strings.CutPrefix(line, "!")
		line, r.folders = strings.CutSuffix(line, "/")
		r.everywhere = !strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if line == "" || len(line) > fsMostPattern {
			continue
		}
		for part := range strings.SplitSeq(line, "/") {
			r.parts = append(r.parts, strings.ReplaceAll(part, "[!", "[^"))
		}
		r.literal = r.everywhere && !strings.ContainsAny(line, `*?[\`)
		g.rules = append(g.rules, r)
	}
	return g
}

// fsIgnored reports whether a path from the root is ignored: the last rule that
// fits says so, those of inner folders after those of outer ones.
func fsIgnored(list []*fsIgnore, name string, folder bool) bool {
	for _, g := range slices.Backward(list) {
		if ignored, said := g.says(name, folder); said {
			return ignored
		}
	}
	return false
}

func (g *fsIgnore) says(name string, folder bool) (ignored, said bool) {
	base := path.Base(name)
	var parts []string // of the path from where the file stands
	for i := len(g.rules) - 1; i >= 0; i-- {
		r := &g.rules[i]
		if r.folders && !folder {
			continue
		}
		var fits bool
		switch {
		case r.literal:
			fits = r.parts[0] == base
		case r.everywhere:
			fits, _ = path.Match(r.parts[0], base)
			fits = fits || r.parts[0] == "**"
		default:
			if parts == nil {
				parts = strings.Split(fsFrom(g.dir, name), "/")
			}
			fits = fsMatchIgnore(r.parts, parts)
		}
		if fits {
			return !r.again, true
		}
	}
	return false, false
}

// fsMatchIgnore is fsMatch, but a ** at the end stands for at least one name.
func fsMatchIgnore(want, got []string) bool {
	if n := len(want); n > 1 && want[n-1] == "**" {
		want = append(append([]string{}, want[:n-1]...), "*", "**")
	}
	return fsMatch(want, got)
}
