package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"get_user-name.first", "get user name first"},
		{"getHTTPStatusOf", "get http status"},
		{"parseJSON", "parse json parsejson"},
		{"GitHub issues", "git hub github issues"},
		{"createGitHubIssue", "create git hub issue"},
		{"base64 H2O mp3", "base64 h2o mp3"},
		{"the city's café, naïve", "citys cafe naive"},
		{"Größe STRASSE", "große strasse"},
		{"погода в Москве", "погода в москве"},
		{"天気予報", "天気 気予 予報"},
		{"搜索 web 页", "搜索 web 页"},
		{"날씨 예보", "날씨 예보"},
		{"a\xff\xfeb c\x80d", "b c d"},
		{"👩‍💻 code", "code"},
		{"e\u0301cole", "ecole"},
		{strings.Repeat("x", 500), strings.Repeat("x", maxWord)},
	} {
		if got := strings.Join(slices.Collect(Words(tt.text)), " "); got != tt.want {
			t.Errorf("Words(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"create creates created creating", "plan plans planned planning", "city cities", "box boxes", "match matches matched matching",
		"process processes processed", "status", "analysis", "need needs needed", "string strings", "bus", "sing",
	} {
		var stems []string
		for w := range strings.FieldsSeq(forms) {
			stems = append(stems, string(stem([]byte(w))))
		}
		if slices.Sort(stems); len(slices.Compact(stems)) != 1 {
			t.Errorf("stems of %q: got %q, want one", forms, stems)
		}
	}
	for _, w := range []string{"bus", "string", "speed", "sing", "red", "analysis", "天気", "x"} {
		if got := string(stem([]byte(w))); got != w {
			t.Errorf("stem(%q) = %q, want it whole", w, got)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("getHTTPStatus 天気 \xff don't")
	f.Add("CAFÉs ДЖs")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for w := range Words(text) {
			n++
			if w == "" || !utf8.ValidString(w) || len(w) > maxWord+utf8.UTFMax || strings.ContainsAny(w, " ABCXYZ_-") {
				t.Errorf("a word of %q is %q", text, w)
			}
			if s := stem([]byte(w)); len(s) == 0 || len(s) > len(w) {
				t.Errorf("stem(%q) = %q", w, s)
			}
		}
		if n > 2*len(text) {
			t.Errorf("got %d words of %d bytes", n, len(text))
		}
	})
}
