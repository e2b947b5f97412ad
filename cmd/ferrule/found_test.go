package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, whole int
		want     string
	}{
		{0, 0, "0 %"},
		{0, 80_025, "0 %"},
		{357, 80_025, "less than 1 %"},
		{79_742, 80_025, "more than 99 %"},
		{1, 3, "33 %"},
		{7, 7, "100 %"},
	} {
		if got := share(tt.n, tt.whole); got != tt.want {
			t.Errorf("share(%d, %d): got %q, want %q", tt.n, tt.whole, got, tt.want)
		}
	}
	c := costs{Tokens: 1_080_025, Deferred: 283, Auto: "deferred"}
	want := "about 1,080,025 tokens in every prompt; deferred, with tool_search in their place, 283: more than 99 % less\n" +
		"auto would defer them: they take more than a tenth of a context of 200,000 tokens"
	if got := c.summary(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingFound(t *testing.T) {
	t.Parallel()
	known := []string{"files", "read", "text", "file", "git", "commit"}
	for text, want := range map[string]string{
		"raed a flie": `no tool has these words: did you mean "read a file"?`,
		"zzyzx":       "no tool has these words: try others, or fewer; `ferrule tools` lists what there is",
	} {
		if got := nothingFound(known, text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if got := nothingFound(nil, "read"); got != "there are no tools" {
		t.Errorf("got %q where there is no tool", got)
	}
}

func TestFoundInLines(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"TOOL", "SCORE", "WHY", "DESCRIPTION"},
		{"files__read_text_file", "1.97", "name: read file; description: text; meaning 0.87", "Read a file."},
	}
	if !hasRoom(rows, 80) || hasRoom(rows, 79) {
		t.Errorf("got room in 80 columns: %t, in 79: %t, want it in 80 alone", hasRoom(rows, 80), hasRoom(rows, 79))
	}
	want := "files__read_text_file  1.97\n  name: read file; description: text;\n  meaning 0.87\n  Read a file."
	if got := strings.Join(inLines(rows[1:], 40), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDoctorSearch(t *testing.T) {
	t.Parallel()
	const key = "sk-hunter2hunter2hunter2"
	for _, tt := range []struct {
		name, answer string
		code         int
		want         string
	}{
		{"Q4 it answers", `{"data":[{"index":0,"embedding":[1,0,2]}]}`, 200, "ok search.endpoint: small answers, with vectors of 3 numbers"},
		{"Q4 it repeats the key", "wrong key: Bearer " + key, 401, `failed search.endpoint: got status 401 Unauthorized (what it says holds the key, and is left out)`},
		{"Q4 it repeats the key, cut", strings.Repeat("x", 200-16) + key, 401, `failed search.endpoint: got status 401 Unauthorized (what it says holds the key, and is left out)`},
		{"Q4 no vector", `{"data":[]}`, 200, "failed search.endpoint: got "},
		{"Q4 one without numbers", `{"data":[{"index":0,"embedding":[]}]}`, 200, "failed search.endpoint: got "},
		{"Q4 zeros", `{"data":[{"index":0,"embedding":[0,0,0]}]}`, 200, "failed search.endpoint: got a vector without a number other than 0"},
		{"Q4 another length", `{"data":[{"index":0,"embedding":[1,0]}]}`, 200, "failed search.endpoint: got a vector of 2 numbers, want 3"},
		{"Q4 nobody there", "", 0, "failed search.endpoint: dial tcp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer "+key {
					t.Errorf("got the authorization %q", got)
				}
				w.WriteHeader(tt.code)
				_, _ = io.WriteString(w, tt.answer)
			}))
			defer server.Close()
			if tt.code == 0 {
				server.Close()
			}
			dir := t.TempDir()
			for name, text := range map[string]string{
				"key": key + "\n",
				"ferrule.yaml": "secrets: {k: {file: key}}\n" +
					"search: {endpoint: {url: \"" + server.URL + "\", model: small, key: k, dimensions: 3, wait: 10s}}\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p := &program{dir: dir}
			c, err := p.load()
			if err != nil {
				t.Fatal(err)
			}
			found := examineSearch(t.Context(), c)
			if len(found) != 1 {
				t.Fatalf("got %v, want one finding", found)
			}
			if got := found[0].State + " " + found[0].Text; !strings.HasPrefix(got, tt.want) || strings.Contains(got, "hunter2") || strings.Contains(got, server.URL) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
