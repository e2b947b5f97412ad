package pages_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
	scheme  = regexp.MustCompile(`^[a-z]+:`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	markup  = regexp.MustCompile("[`*]|\\]\\([^)]*\\)|\\[")
	figure  = regexp.MustCompile(`\d ?(?:ns|µs|us|ms|MB/s|KB|MB|%|floors?|times)(?:\W|$)`)
	command = regexp.MustCompile("`(?:make|go run|go test|go -C|ferrule|wc) ")
)

// links are the faults of links to files and headings of this repository.
func links(name, text string) (faults []error) {
	for n, line := range strings.Split(prose(text), "\n") {
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			to := m[1] + m[2]
			if scheme.MatchString(to) {
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			target, read := name, []byte(text)
			if file != "" {
				target = path.Join(path.Dir(name), file)
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					faults = append(faults, fmt.Errorf("%s:%d: the link %s leads nowhere: %w", name, n+1, to, err))
					continue
				}
				read, _ = os.ReadFile(filepath.Join(root, target)) // of a folder nothing
			}
			if anchor != "" && path.Ext(target) == ".md" && !anchors(string(read))[anchor] {
				faults = append(faults, fmt.Errorf("%s:%d: the link %s: %s has no such heading", name, n+1, to, target))
			}
		}
	}
	return faults
}

// anchors are what the headings of a page are called in links.
func anchors(text string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(prose(text), -1) {
		var slug strings.Builder
		for _, r := range strings.ToLower(markup.ReplaceAllString(strings.TrimSpace(m[1]), "")) {
			switch {
			case r == ' ':
				slug.WriteByte('-')
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				slug.WriteRune(r)
			}
		}
		all[slug.String()] = true
	}
	return all
}

// figures are sections that have a table or a list of measured figures, three rows of
// them or more, and no command that gives them.
func figures(name, text string) (faults []error) {
	var title string
	rows, line, named := 0, 0, false
	flush := func() {
		if rows >= 3 && !named {
			faults = append(faults, fmt.Errorf("%s:%d: %q has %d rows of figures and names no command that gives them", name, line, title, rows))
		}
		rows, named = 0, false
	}
	for n, s := range strings.Split(prose(text), "\n") {
		if strings.HasPrefix(s, "#") {
			flush()
			title, line = strings.TrimLeft(s, "# "), n+1
		}
		named = named || command.MatchString(s)
		row := strings.TrimSpace(s)
		if (strings.HasPrefix(row, "|") || strings.HasPrefix(row, "- ")) && figure.MatchString(row) {
			rows++
		}
	}
	flush()
	return faults
}
