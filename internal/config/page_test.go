package config_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/config"
)

// page is the reference of the configuration.
const page = "../../docs/configuration.md"

// row is what can be tried of a line of its tables.
type row struct{ key, standard, example string }

// beside are the keys that a mapping must have, so that one key of it can be tried;
// instead is the same for a single key.
var (
	beside = map[string]string{
		"servers.NAME":                       "command: x",
		"servers.NAME.isolate":               "level: namespace",
		"servers.NAME.claims.NAME.touches[]": `resource: "x:y"`,
		"policy.always[]":                    `rule: "x(path: a)"`,
		"limits.rates[]":                     "calls: 1",
		"hooks[]":                            "name: x, command: [x]",
		"listen.tls":                         "cert: x, key: y",
		"content.rules[]":                    "id: x, pattern: x",
		"content.flow.trusted[]":             "from: x, to: x, at: x",
		"telemetry":                          "otlp: true",
		"search.endpoint":                    `url: "http://127.0.0.1/x", model: x`,
	}
	instead = map[string]string{
		"servers.NAME.url":                 "",
		"servers.NAME.headers":             `url: "https://x.example"`,
		"servers.NAME.login":               `url: "https://x.example"`,
		"servers.NAME.login.client_secret": "client_id: x",
		"servers.NAME.pins":                "command: x, trust: own",
		"secrets.NAME.tools":               "env: X",
	}
)

func TestPage(t *testing.T) {
	t.Parallel()
	rows := readRows(t)
	t.Run("Y1 the page has every key, and no other", func(t *testing.T) {
		t.Parallel()
		var has []string
		for _, r := range rows {
			if slices.Contains(has, r.key) {
				t.Errorf("%s stands there twice", r.key)
			}
			has = append(has, r.key)
		}
		known := keysBelow(t, "")
		if len(known) < 100 {
			t.Fatalf("got %d keys, want all that the reader knows", len(known))
		}
		for _, key := range known {
			if !slices.Contains(has, key) {
				t.Errorf("%s: %s has no row for it", page, key)
			}
		}
		for _, key := range has {
			if !slices.Contains(known, key) {
				t.Errorf("%s: there is no key %s", page, key)
			}
		}
	})
	t.Run("Y1 every default and every example of the page loads", func(t *testing.T) {
		t.Parallel()
		for _, r := range rows {
			if r.example == "" {
				t.Errorf("%s: got no example", r.key)
			}
			for _, value := range []string{r.standard, r.example} {
				if value == "" {
					continue
				}
				text := file(r.key, value)
				if _, err := config.Parse("f.yaml", t.TempDir(), text); err != nil {
					t.Errorf("%s: %v\n%s", r.key, err, text)
				}
			}
		}
	})
}

// readRows reads the tables of the page. Of a default and an example counts what stands
// between backticks, if that is all.
func readRows(t *testing.T) (rows []row) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	bare := func(cell string) string {
		inside, ok := strings.CutSuffix(strings.TrimPrefix(cell, "`"), "`")
		if !ok || strings.Contains(inside, "`") {
			return ""
		}
		return inside
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 5 {
			t.Fatalf("got %q, want a row of five cells", line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, row{key: bare(cells[0]), standard: bare(cells[2]), example: bare(cells[4])})
	}
	return rows
}

// keysBelow asks the reader for the keys below one: an error about a key that there is
// not names those that there are.
func keysBelow(t *testing.T, key string) (all []string) {
	t.Helper()
	const odd = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"
	wants := regexp.MustCompile(`"` + odd + `", want one of (.*)$`)
	for _, as := range []string{"", "[]", ".NAME"} {
		_, err := config.Parse("f.yaml", t.TempDir(), file(strings.TrimPrefix(key+as+"."+odd, "."), "1"))
		var list config.Errors
		if !errors.As(err, &list) {
			continue
		}
		for _, fault := range list {
			m := wants.FindStringSubmatch(fault.Text)
			if m == nil {
				continue
			}
			for name := range strings.SplitSeq(m[1], ", ") {
				name = strings.TrimPrefix(key+as+"."+name, ".")
				all = append(append(all, name), keysBelow(t, name)...)
			}
			return all
		}
	}
	return nil
}

// file is a configuration with one key, and what must stand beside it.
func file(key, value string) string {
	var write func(front []string, rest []string) string
	write = func(front, rest []string) string {
		path := strings.Join(append(front, rest[0]), ".")
		name, list := strings.CutSuffix(rest[0], "[]")
		inner := value
		if len(rest) > 1 {
			inner = write(append(front, rest[0]), rest[1:])
		}
		if list {
			inner = "[" + inner + "]"
		}
		pairs := name + ": " + inner
		with, ok := instead[path]
		if !ok {
			with = beside[strings.Join(front, ".")]
		}
		for pair := range strings.SplitSeq(with, ", ") {
			if pair != "" && !strings.HasPrefix(pair, name+":") {
				pairs = pair + ", " + pairs
			}
		}
		return "{" + pairs + "}"
	}
	text := strings.TrimSuffix(strings.TrimPrefix(write(nil, strings.Split(key, ".")), "{"), "}") + "\n"
	if !strings.HasPrefix(key, "secrets") {
		text += "secrets: {token: {env: TOKEN}}\n"
	}
	return text
}
