package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ruleBook is what the specification demands and what is said to be built.
type ruleBook struct {
	spec  []string
	built map[string]bool
}

func readRules(dir string) (ruleBook, error) {
	spec, err := readFile(filepath.Join(dir, "docs", "spec.md"), readSpec)
	if err != nil {
		return ruleBook{}, err
	}
	built, err := readFile(filepath.Join(dir, "docs", "rules.txt"), readBuilt)
	return ruleBook{spec, built}, err
}

// listRules runs the tests, prints every rule of the specification with the
// subtests that show it, and fails when a rule that is said to be built has
// none, or when a name leads nowhere.
func listRules(ctx context.Context, out io.Writer, dir string) error {
	r, err := readRules(dir)
	if err != nil {
		return err
	}
	s, err := goTest(ctx, dir, nil, func(s *suite, p *report) {
		if p.verdict == failed {
			p.print(out, s.builds)
		}
	})
	if err != nil {
		return err
	}
	if c := s.count(); c.failed > 0 {
		return fmt.Errorf("rules are shown by passing tests: %s", c)
	}
	r.print(out, s.shown())
	return r.check(out, s)
}

// print writes one line a rule: * marks what is built.
func (r ruleBook) print(out io.Writer, shown map[string][]string) {
	for _, rule := range r.spec {
		mark := " "
		if r.built[rule] {
			mark = "*"
		}
		line := fmt.Sprintf("%s %-4s%3d  %s", mark, rule, len(shown[rule]), strings.Join(shown[rule], "; "))
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}

// check counts the rules in one line and joins every fault into one error, so
// that one run shows them all.
func (r ruleBook) check(out io.Writer, s *suite) error {
	shown := s.shown()
	fmt.Fprintf(out, "%d rules, %d built, %d with a subtest\n", len(r.spec), len(r.built), len(shown))
	return r.faults(shown)
}

func (r ruleBook) faults(shown map[string][]string) error {
	known := make(map[string]bool)
	var faults []error
	for _, rule := range r.spec {
		known[rule] = true
		if r.built[rule] && len(shown[rule]) == 0 {
			faults = append(faults, fmt.Errorf("%s: listed as built, but no passing subtest names it", rule))
		}
	}
	for _, rule := range sorted(r.built) {
		if !known[rule] {
			faults = append(faults, fmt.Errorf("%s: listed as built, but the specification has no such rule", rule))
		}
	}
	for _, rule := range sorted(shown) {
		if !known[rule] {
			faults = append(faults, fmt.Errorf("%s: named by %q, but the specification has no such rule", rule, shown[rule][0]))
		}
	}
	return errors.Join(faults...)
}

func readFile[T any](name string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	f, err := os.Open(name)
	if err != nil {
		return none, err
	}
	defer f.Close()
	v, err := read(f)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// readSpec finds the rules of the specification in their order. A rule belongs
// to the section whose letter it bears (## T. or **X.). It begins a list item,
// or, where several stand in one paragraph, a sentence; there it must be the
// next number of its section, because a sentence may also begin with a rule
// that it only cites.
func readSpec(r io.Reader) ([]string, error) {
	section := regexp.MustCompile(`^(?:## |\*\*)([A-Z])\. `)
	item := regexp.MustCompile(`^- ([A-Z])(\d+) `)
	sentence := regexp.MustCompile(`(?:^|\. |\.\*\* )\s*([A-Z])(\d+) `)
	var (
		all    []string
		seen   = make(map[string]bool)
		letter string
		last   int
	)
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20) // a paragraph may be one long line
	for in.Scan() {
		line := in.Text()
		if m := section.FindStringSubmatch(line); m != nil {
			letter, last = m[1], 0
		}
		begins := item.FindStringSubmatch(line)
		if begins != nil && begins[1] != letter {
			return nil, fmt.Errorf("rule %s%s: stands in section %q", begins[1], begins[2], letter)
		}
		found := sentence.FindAllStringSubmatch(strings.TrimPrefix(line, "- "), -1)
		for i, m := range found {
			rule := m[1] + m[2]
			isItem := begins != nil && i == 0
			if !isItem && rule != fmt.Sprintf("%s%d", letter, last+1) {
				continue // cited, not defined
			}
			if seen[rule] {
				return nil, fmt.Errorf("rule %s: stands there twice", rule)
			}
			if _, err := fmt.Sscanf(m[2], "%d", &last); err != nil {
				return nil, fmt.Errorf("rule %s: %w", rule, err)
			}
			seen[rule] = true
			all = append(all, rule)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("got no rule, want lines such as \"- T1 …\"")
	}
	return all, nil
}

// readBuilt reads the list of rules that are built: one a line, # comments.
func readBuilt(r io.Reader) (map[string]bool, error) {
	form := regexp.MustCompile(`^[A-Z]\d+$`)
	built := make(map[string]bool)
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line, _, _ := strings.Cut(in.Text(), "#")
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case !form.MatchString(line):
			return nil, fmt.Errorf("line %d: got %q, want a rule such as T1", n, line)
		case built[line]:
			return nil, fmt.Errorf("line %d: %s stands there twice", n, line)
		default:
			built[line] = true
		}
	}
	return built, in.Err()
}

// shown maps each rule to the passing subtests that name it at the start of
// their own name. Go has made underscores of spaces: TestX/D5_siblings. Names
// further up the path are subtests of their own and counted as such.
func (s *suite) shown() map[string][]string {
	form := regexp.MustCompile(`^([A-Z]\d{1,2})(?:[_:]|$)`)
	shown := make(map[string][]string)
	for _, p := range s.packages {
		for _, t := range p.tests {
			at := strings.LastIndexByte(t.name, '/')
			if at < 0 || t.verdict != passed {
				continue
			}
			name := t.name[at+1:]
			m := form.FindStringSubmatch(name)
			if m == nil {
				continue
			}
			text := strings.TrimLeft(strings.TrimPrefix(name, m[1]), "_:")
			text = path.Base(p.name) + ": " + strings.ReplaceAll(text, "_", " ")
			shown[m[1]] = append(shown[m[1]], text)
		}
	}
	return shown
}

func sorted[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
