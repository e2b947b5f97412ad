package crash_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// disguises are a value as a tool may print it, by name. Of base64 there is what
// does not depend on what stands beside it, for each place that it may begin at.
func disguises(value string) map[string]string {
	all := map[string]string{
		"as it is":   value,
		"hex":        hex.EncodeToString([]byte(value)),
		"upper hex":  strings.ToUpper(hex.EncodeToString([]byte(value))),
		"in a query": url.QueryEscape(value),
		"in a path":  url.PathEscape(value),
	}
	for name, escape := range map[string]bool{"JSON": false, "JSON for a page": true} {
		text := value
		for depth := range 3 { // a record holds texts that hold JSON
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(escape)
			if err := enc.Encode(text); err != nil {
				panic(err)
			}
			text = strings.TrimSuffix(b.String(), "\n")
			text = text[1 : len(text)-1]
			all[fmt.Sprint(name, " ", depth+1)] = text
		}
	}
	for at := range 3 {
		whole := strings.Repeat("x", at) + value
		skip := (at*8 + 5) / 6                // characters that also hold what stands before
		keep := len(whole) / 3 * 4            // and after
		if rest := len(whole) % 3; rest > 0 { // whole characters of the last bytes
			keep += rest * 8 / 6
		}
		all[fmt.Sprint("base64 at ", at)] = base64.RawStdEncoding.EncodeToString([]byte(whole))[skip:keep]
		all[fmt.Sprint("base64 for URLs at ", at)] = base64.RawURLEncoding.EncodeToString([]byte(whole))[skip:keep]
	}
	return all
}

// printed is a value in every form, each with something around it. What was
// escaped three times over is looked for, but not said.
func printed(value string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "key=%s\n", value)
	for name, form := range disguises(value) {
		if !strings.HasPrefix(name, "base64") && !strings.HasSuffix(name, " 3") {
			fmt.Fprintf(&b, "%s <%s>\n", name, form)
		}
	}
	for at := range 5 {
		text := []byte(strings.Repeat("u", at) + value + strings.Repeat(":", at))
		fmt.Fprintf(&b, "%s %s %s %s\n", base64.StdEncoding.EncodeToString(text), base64.RawStdEncoding.EncodeToString(text),
			base64.URLEncoding.EncodeToString(text), base64.RawURLEncoding.EncodeToString(text))
	}
	return b.String()
}

// found lists the files below a directory that have a value in them, in any form.
func found(t *testing.T, dir, value string) (in []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for form, is := range disguises(value) {
			if bytes.Contains(text, []byte(is)) {
				in = append(in, fmt.Sprintf("%s: %s (%q)", filepath.Base(name), form, is))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// The search finds what is there: each form in a file by itself.
func TestFound(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"hunter2-long-enough", `pa"ss\wo/rd+with&odd<bytes>=` + "\tü", "0123456789abcdef0123456789abcdef"} {
		for form, is := range disguises(value) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "file"), []byte("\x00\xff"+is+"\x00"), 0o600); err != nil {
				t.Fatal(err)
			}
			if in := found(t, dir, value); len(in) == 0 {
				t.Errorf("%q, %s: not found", value, form)
			}
		}
		dir := t.TempDir()
		for at := range 6 {
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("u", at) + value + "tail"))
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(at)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if in := found(t, dir, value); len(in) < 6 {
			t.Errorf("%q behind something, in base64: got %q, want it in each file", value, in)
		}
		if in := found(t, dir, "another value"); len(in) > 0 {
			t.Errorf("found %q, which is not there", in)
		}
	}
}
