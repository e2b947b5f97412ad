package pages_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// commands knows which commands and flags the program has, and what make and the
// programs of this repository can be told.
type commands struct {
	program string
	mu      sync.Mutex
	kept    map[string]map[string]bool // by arguments: what can come next
}

var inline = regexp.MustCompile("`([^`]+)`")

// named are the faults of commands that a page names, in blocks that are not run and
// between backticks.
func (c *commands) named(ctx context.Context, p *page) (faults []error) {
	for _, b := range p.blocks {
		if b.Lang != "sh" || !b.Shown {
			continue
		}
		text := strings.ReplaceAll(b.Text, "\\\n", "  ")
		for n, line := range strings.Split(text, "\n") {
			if err := c.exists(ctx, line); err != nil {
				faults = append(faults, fmt.Errorf("%s:%d: %w", b.Page, b.Line+1+n, err))
			}
		}
	}
	text := prose(p.text)
	for _, m := range inline.FindAllStringSubmatchIndex(text, -1) {
		if err := c.exists(ctx, strings.ReplaceAll(text[m[2]:m[3]], "\n", " ")); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", p.name, 1+strings.Count(text[:m[0]], "\n"), err))
		}
	}
	return faults
}

// prose is a page with empty lines instead of blocks.
func prose(text string) string {
	lines, inside := strings.Split(text, "\n"), false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			inside = !inside
		}
		if fence || inside {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// exists says what is wrong with one command line, if it is one of ours.
func (c *commands) exists(ctx context.Context, line string) error {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " | ")
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t[]()", r) })
	if len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/ferrule" {
		words = append([]string{"ferrule"}, words[3:]...)
	}
	switch {
	case len(words) < 2:
		return nil
	case words[0] == "ferrule":
		return c.ferrule(ctx, words[1:])
	case words[0] == "make":
		return inFile("make", words[1], "Makefile", "\n"+words[1]+":")
	case words[0] == "go" && words[1] == "run" && len(words) > 2 && strings.HasPrefix(words[2], "./"):
		return goRuns(words[2], words[3:])
	}
	return nil
}

// inFile looks for a word that a program can be told where the program lists it.
func inFile(program, word, file, as string) error {
	if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(word) || word[0] == '-' {
		return nil // a placeholder, or a flag
	}
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), as) {
		return fmt.Errorf("%s %s: got %q, want what %s has", program, word, word, file)
	}
	return nil
}

func goRuns(folder string, args []string) error {
	if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
		return fmt.Errorf("go run %s: %w", folder, err)
	}
	if len(args) == 0 || folder != "./e2e" && folder != "./eval" {
		return nil
	}
	if args[0] == "install" {
		return nil
	}
	return inFile("go run "+folder, args[0], folder+"/main.go", `{"`+args[0]+`",`)
}

// ferrule follows the words of a command line to its command, and looks for its flags.
func (c *commands) ferrule(ctx context.Context, words []string) error {
	var path []string
	for len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		next, err := c.next(ctx, path, "")
		if err != nil {
			return err
		}
		if !next[words[0]] {
			break
		}
		path, words = append(path, words[0]), words[1:]
	}
	if len(path) == 0 && len(words) > 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(words[0]) {
		return fmt.Errorf("ferrule %s: there is no such command", words[0])
	}
	flags, err := c.next(ctx, path, "-")
	if err != nil {
		return err
	}
	for i, w := range words {
		if w == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimRight(w, ",.;:"), "=")
		if regexp.MustCompile(`^--[a-z][a-z-]*$`).MatchString(name) && !flags[name] {
			return fmt.Errorf("ferrule %s: got the flag %s, want one that it has", strings.Join(append(path, words[:i]...), " "), name)
		}
	}
	return nil
}

// next is what can stand behind a command: commands, or flags behind "-".
func (c *commands) next(ctx context.Context, path []string, begin string) (map[string]bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := strings.Join(append(path, begin), " ")
	if got, ok := c.kept[key]; ok {
		return got, nil
	}
	args := append([]string{"__complete"}, path...)
	if begin == "-" {
		begin = "--"
	}
	all := make(map[string]bool)
	for {
		out, err := exec.CommandContext(ctx, c.program, append(args, begin)...).Output()
		if err != nil {
			return nil, fmt.Errorf("ferrule %s: %w", strings.Join(args, " "), err)
		}
		given := len(args)
		for line := range strings.Lines(string(out)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if strings.HasPrefix(name, "--") && !all[name] {
				args = append(args, name+"=x")
			}
			all[name] = true
		}
		// Flags that are needed come alone: the others when those are given.
		if all["--help"] || len(args) == given {
			break
		}
	}
	all["--help"] = true
	if c.kept == nil {
		c.kept = make(map[string]map[string]bool)
	}
	c.kept[key] = all
	return all, nil
}
