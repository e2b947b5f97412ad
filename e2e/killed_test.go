package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A harness that takes everything for right proves nothing: what a run that was killed
// may not have done is found.
func TestKillingLook(t *testing.T) {
	t.Parallel()
	write := func(id, word string) string {
		return fmt.Sprintf(`{"call":{"id":%q,"name":"shell","input":{"command":"echo %s >> log"}}}`, id, word)
	}
	asText := func(id, word string) string {
		return fmt.Sprintf(`{"call":{"id":%q,"name":"shell","text":"{\"command\":\"echo %s >> log\"}"}}`, id, word)
	}
	read := func(id string) string { return fmt.Sprintf(`{"call":{"id":%q,"name":"fs_read","input":{}}}`, id) }
	good := func(id string) string { return fmt.Sprintf(`{"result":{"call_id":%q}}`, id) }
	unknown := func(id string) string {
		return fmt.Sprintf(`{"result":{"call_id":%q,"error":true,"content":[{"text":"Whether it has happened is not known."}]}}`, id)
	}
	for _, tt := range []struct {
		name  string
		kills int
		said  [][]string
		log   string
		want  string // a fault; "": there is none
	}{
		{"all is well", 0, [][]string{{write("1", "a"), asText("2", "b"), read("3")}, {good("1"), good("2"), good("3")}}, "a b", ""},
		{"one is not known, and happened", 1, [][]string{{write("1", "a"), read("2")}, {unknown("1"), good("2")}}, "a", ""},
		{"one is not known, and did not happen", 1, [][]string{{write("1", "a")}, {unknown("1")}}, "", ""},
		{"nobody was killed", 0, [][]string{{write("1", "a")}, {unknown("1")}}, "a", "1 turns have results that are not known after 0 kills"},
		{"two turns for one kill", 1, [][]string{{write("1", "a")}, {unknown("1")}, {write("2", "b")}, {unknown("2")}}, "a b", "2 turns have results that are not known after 1 kills"},
		{"more than a turn has", 3, [][]string{{write("1", "a"), write("2", "b"), write("3", "c"), write("4", "d")}, {unknown("1"), unknown("2"), unknown("3"), unknown("4")}}, "", "message 2 has 4 results that are not known, want at most 3"},
		{"what only reads can run again", 1, [][]string{{read("1")}, {unknown("1")}}, "", "a call that reads failed"},
		{"a call has no result", 1, [][]string{{write("1", "a"), write("2", "b")}, {good("1")}}, "a", "b has no result"},
		{"a call that reads has none", 1, [][]string{{read("1"), read("2")}, {good("1")}}, "", "a call that reads has no result"},
		{"a call has two", 1, [][]string{{write("1", "a")}, {good("1"), good("1")}}, "a", `"1" has 2 results`},
		{"it went well and did not happen", 1, [][]string{{write("1", "a")}, {good("1")}}, "", "a went well and happened 0 times"},
		{"it happened twice", 1, [][]string{{write("1", "a")}, {unknown("1")}}, "a a", "a happened 2 times"},
		{"it happened and is not told", 1, [][]string{{write("1", "a")}, {good("1")}}, "a b", "b happened, and the conversation does not know of it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var said []string
			for _, parts := range tt.said {
				said = append(said, `{"parts":[`+strings.Join(parts, ",")+`]}`)
			}
			put(t, filepath.Join(dir, "home", "runs", "k.json"), `{"why":"done","said":[`+strings.Join(said, ",")+`]}`)
			put(t, filepath.Join(dir, "log"), tt.log)
			k := killing{kills: tt.kills}
			if err := k.look(scripted{dir, filepath.Join(dir, "home"), "k"}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(k.faults, "; "); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
