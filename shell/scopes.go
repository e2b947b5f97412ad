package shell

import (
	"slices"
	"strconv"
	"strings"
)

// maxScope is how many commands a line may have for scopes to be offered: a
// person must read them.
const maxScope = 5

// Scopes are rules that cover the line, narrowest first: what stands within the
// parentheses of a short rule, such as go test ./... and go test*. Each covers
// all commands of the line. None is offered for programs that run other
// programs, beyond the very words; and none at all for lines of which a word is
// computed.
func Scopes(line string) []string {
	commands := Judge(line).Commands
	if len(commands) == 0 || len(commands) > maxScope {
		return nil
	}
	var exact, wide []string
	for _, words := range commands {
		if !patternable(words) {
			return nil
		}
		e := quotePattern(strings.Join(words, " "))
		if !slices.Contains(exact, e) {
			exact = append(exact, e)
		}
		for _, w := range widened(words) {
			if w = quotePattern(w); !slices.Contains(wide, w) {
				wide = append(wide, w)
			}
		}
	}
	list := []string{strings.Join(exact, ", ")}
	if w := strings.Join(wide, ", "); w != list[0] {
		list = append(list, w)
	}
	return list
}

// patternable reports whether words can stand in a pattern and mean themselves.
func patternable(words []string) bool {
	return !strings.Contains(words[0], "=") && !slices.ContainsFunc(words, func(w string) bool {
		return w == "" || strings.ContainsAny(w, "*"+computed) || len(strings.Fields(w)) != 1 || strings.Fields(w)[0] != w
	})
}

// quotePattern quotes what has a meaning in a rule.
func quotePattern(text string) string {
	if strings.ContainsAny(text, `,()":\`) {
		return strconv.Quote(text)
	}
	return text
}

// widened are the patterns that leave the words free that may well be others the
// next time: behind the command of a program that has commands, else behind the
// program. Of programs that the table has, only those are widened of which no
// flag can write or run.
func widened(words []string) []string {
	exact := []string{strings.Join(words, " ")}
	if runner(words[0]) || len(words) < 2 {
		return exact
	}
	if commands, ok := openCommands(words[0]); ok {
		open := words[0] + " " + words[1]
		switch {
		case !slices.Contains(strings.Fields(commands), words[1]):
			return exact
		case words[0] == "git" || words[0] == "cargo": // git diff* would be git difftool too
			return []string{open, open + " *"}
		}
		return []string{open + "*"}
	}
	if table(words[0]).any {
		return []string{words[0] + " *"}
	}
	switch words[0] {
	case "mkdir", "touch", "cp", "mv", "ln":
		return []string{words[0] + " *"}
	}
	return exact
}

// openCommands are the commands of a program whose other words may be left
// free. Those that run programs which their words name are not among them.
func openCommands(name string) (string, bool) {
	switch name {
	case "go":
		return "test build vet fmt list mod doc version", true
	case "git":
		return "status diff log show add commit branch stash checkout switch restore tag merge reset blame rm mv ls-files rev-parse describe", true
	case "cargo":
		return "test build check fmt clippy doc tree", true
	case "npm", "pnpm", "yarn":
		return "test install ci ls list outdated", true
	case "pip", "pip3", "uv", "gem", "bundle", "composer", "dotnet", "swift", "mix", "rails", "terraform", "kubectl", "helm", "gh", "aws", "gcloud", "az", "systemctl", "apt", "apt-get", "dnf", "yum", "brew", "snap", "flatpak":
		return "", true
	}
	return "", false
}
