package main

import (
	"slices"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// oneOf refuses a word that is none of a closed set, and names the one that is near.
func oneOf(what, got string, want ...string) error {
	if slices.Contains(want, got) {
		return nil
	}
	return usage("%s: got %q, want %s%s", what, terminal.Brief(got, 80), orWords(want), didYouMean(nearest(got, want)))
}

// orWords lists words of which one is wanted.
func orWords(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// orList is a hint: names that are near, or else where they are listed.
func orList(near []string, listed string) string {
	if len(near) == 0 {
		return ": " + listed
	}
	return didYouMean(near)
}

// didYouMean names what is near; nothing where nothing is.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// nearest are up to three names that differ little from one.
func nearest(name string, known []string) []string {
	type at struct {
		name string
		far  int
	}
	var near []at
	for _, k := range known {
		const least = 3 // letters that say enough
		if len(name) >= least && strings.HasPrefix(strings.ToLower(k), strings.ToLower(name)) {
			near = append(near, at{k, 1})
			continue
		}
		if most := max(len(name), len(k))/3 + 1; max(len(name), len(k)) <= 128 && max(len(name), len(k))-min(len(name), len(k)) <= most {
			if d := apart(strings.ToLower(name), strings.ToLower(k)); d <= most && d < max(len(name), len(k)) {
				near = append(near, at{k, d})
			}
		}
	}
	slices.SortStableFunc(near, func(a, b at) int { return a.far - b.far })
	var names []string
	for _, n := range near[:min(len(near), 3)] {
		if n.far <= 2*near[0].far { // else one is so near that it was meant
			names = append(names, terminal.Brief(n.name, 80))
		}
	}
	return names
}

// apart is how many bytes must be changed, added or taken away to make one text of
// the other.
func apart(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			left, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, left+cost)
		}
	}
	return row[len(b)]
}
