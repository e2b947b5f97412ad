package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

func TestShown(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"P4 ends of lines and tabs stay", "a\tb\nc\n", "a\tb\nc\n"},
		{"P4 what controls is shown", "\x1b[2Ja\rb\x00\u009b", "‹U+001B›[2Ja‹U+000D›b‹U+0000›‹U+009B›"},
		{"P4 what hides is shown", "é漢\u202e🙂\u200b", "é漢‹U+202E›🙂‹U+200B›"},
		{"P4 what is no text is shown", "a\xffb\xe6", "a" + terminal.Visible("\xff") + "b" + terminal.Visible("\xe6")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= 7; size++ { // however it is cut
				var b strings.Builder
				s := &shown{to: &b}
				for part := range slices.Chunk([]byte(tt.text), size) {
					if n, err := s.Write(part); n != len(part) || err != nil {
						t.Fatal(n, err)
					}
				}
				if err := s.end(); err != nil || b.String() != tt.want {
					t.Errorf("in parts of %d: got %q, want %q", size, b.String(), tt.want)
				}
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"P4 nothing is a line", "", []string{""}},
		{"P4 what fits is one", "abcdefghi", []string{"abcdefghi"}},
		{"P4 behind a space near the end", "abcdefg hij", []string{"abcdefg ", "hij"}},
		{"P4 not behind one far from it", "ab cdefghijkl", []string{"ab cdefgh", "ijkl"}},
		{"P4 a word that is too long", "abcdefghijklmnopqrstu", []string{"abcdefghi", "jklmnopqr", "stu"}},
		{"P4 wide characters", "漢漢漢漢漢", []string{"漢漢漢漢", "漢"}},
		{"P4 spaces only", strings.Repeat(" ", 12), []string{strings.Repeat(" ", 9), "   "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := slices.Collect(wrap(tt.text, 9)); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
