package builtin

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// fsPattern is a glob: * ? and [a-z] within a name, ** for any number of folders,
// {a,b} for one of several.
type fsPattern struct {
	ways [][]string // what {} stands for, each split at its slashes
}

const (
	fsMostWays    = 128
	fsMostPattern = 1024 // bytes
)

// fsParsePattern reads a pattern of paths with slashes.
func fsParsePattern(text string) (fsPattern, error) {
	if len(text) > fsMostPattern {
		return fsPattern{}, fmt.Errorf("pattern: got %d bytes, want at most %d", len(text), fsMostPattern)
	}
	ways, err := fsBraces(text)
	if err != nil {
		return fsPattern{}, err
	}
	var p fsPattern
	for _, w := range ways {
		w = strings.TrimPrefix(w, "./")
		parts := strings.Split(w, "/")
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil {
				return fsPattern{}, fmt.Errorf("pattern: got %q, want each [ closed and something behind each \\", text)
			}
			if part == ".." || part == "" && len(parts) > 1 || part == "." {
				return fsPattern{}, fmt.Errorf("pattern: got %q, want names without . .. // or / at an end; path says where to begin", text)
			}
		}
		p.ways = append(p.ways, parts)
	}
	return p, nil
}

// matches reports whether a path with slashes fits.
func (p fsPattern) matches(name string) bool {
	parts := strings.Split(name, "/")
	return slices.ContainsFunc(p.ways, func(want []string) bool { return fsMatch(want, parts) })
}

// reaches reports whether something below a folder can fit; "." is where it
// begins.
func (p fsPattern) reaches(folder string) bool {
	if folder == "." {
		return true
	}
	parts := strings.Split(folder, "/")
	return slices.ContainsFunc(p.ways, func(want []string) bool {
		for i, part := range parts {
			if i >= len(want)-1 && !slices.Contains(want[:min(i+1, len(want))], "**") {
				return false
			}
			if want[i] == "**" {
				return true
			}
			if ok, err := path.Match(want[i], part); err != nil || !ok {
				return false
			}
		}
		return true
	})
}

// fsMatch compares part by part. To where it came last with a ** is all that has
// to be remembered, so it takes at most parts times pattern.
func fsMatch(want, got []string) bool {
	star, taken := -1, 0
	i, j := 0, 0
	for j < len(got) {
		if i < len(want) && want[i] == "**" {
			star, taken = i, j
			i++
			continue
		}
		if i < len(want) {
			if ok, err := path.Match(want[i], got[j]); err == nil && ok {
				i++
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		taken++
		i, j = star+1, taken
	}
	for i < len(want) && want[i] == "**" {
		i++
	}
	return i == len(want)
}

// fsBraces writes out what {a,b} stands for; they may stand in each other.
func fsBraces(text string) ([]string, error) {
	open, depth := -1, 0
	var commas []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				open, commas = i, nil
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth > 0 {
				continue
			}
			var all []string
			from := open + 1
			for _, to := range append(commas, i) {
				some, err := fsBraces(text[:open] + text[from:to] + text[i+1:])
				if err != nil {
					return nil, err
				}
				if all, from = append(all, some...), to+1; len(all) > fsMostWays {
					return nil, fmt.Errorf("pattern: got more than %d ways to read it, want fewer {}", fsMostWays)
				}
			}
			return all, nil
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("pattern: got %q, want each { closed", text)
	}
	return []string{text}, nil
}
