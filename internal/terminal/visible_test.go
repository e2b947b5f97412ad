package terminal

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"golang.org/x/text/unicode/bidi"

	"github.com/ferrule-dev/ferrule/policy"
)

func TestBrief(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		most int
		want string
	}{
		{"a  b\nc", 10, "a b c"},
		{"abcdef", 4, "abc…"},
		{strings.Repeat("日", 100), 3, "日日…"},
		{"a\x1bb", 20, "a‹U+001B›b"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 2, "‹…"},
	}
	for _, tt := range tests {
		t.Run("P4 "+tt.want, func(t *testing.T) {
			if got := Brief(tt.text, tt.most); got != tt.want {
				t.Errorf("Brief(%q, %d) = %q, want %q", tt.text, tt.most, got, tt.want)
			}
		})
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"P4 a text", `{"a": "b~ä日本語é"}`, `{"a": "b~ä日本語é"}`},
		{"P4 controls", "\x00\x1b\x7f\u0085\u009b", "‹U+0000›‹U+001B›‹U+007F›‹U+0085›‹U+009B›"},
		{"P4 bytes that are no text", "a\xff\ufffd", "a‹xFF›‹U+FFFD›"},
		{"P4 directions", "\u202e\u2066\u200f\u061c", "‹U+202E›‹U+2066›‹U+200F›‹U+061C›"},
		{"P4 nothing to see", "\u00ad\u200b\u200d\ufeff\u2060\u034f\u180e", "‹U+00AD›‹U+200B›‹U+200D›‹U+FEFF›‹U+2060›‹U+034F›‹U+180E›"},
		{"P4 blanks", "\u00a0\u3000\u2800\u3164\uffa0\u115f\u1160\u1680\u303f\ufffc\U0001d159\U00013441", "‹U+00A0›‹U+3000›‹U+2800›‹U+3164›‹U+FFA0›‹U+115F›‹U+1160›‹U+1680›‹U+303F›‹U+FFFC›‹U+1D159›‹U+13441›"},
		{"P4 what belongs to nobody", "\ue000\U000f0000\u0378\U0010ffff\ufdd0", "‹U+E000›‹U+F0000›‹U+0378›‹U+10FFFF›‹U+FDD0›"},
		{"P4 variants and tags", "\u2764\ufe0f\U000e0100\U000e0041", "\u2764‹U+FE0F›‹U+E0100›‹U+E0041›"},
		{"P4 flags and colours of skin", "\U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd", "‹U+1F1E9›‹U+1F1EA›\U0001f44d‹U+1F3FD›"},
		{"P4 two marks on a letter", "e\u0323\u0302x", "e\u0323\u0302x"},
		{"P4 a heap of marks", "e\u0301\u0301\u0301\u0301", "e\u0301\u0301‹U+0301›‹U+0301›"},
		{"P4 marks on nothing", "\u0301a \u0302\x1b\u0303", "‹U+0301›a ‹U+0302›‹U+001B›‹U+0303›"},
		{"P4 what strikes out or encloses", "a\u0338\u20e3\u0489\u20dd", "a‹U+0338›‹U+20E3›‹U+0489›‹U+20DD›"},
		{"P4 a filler in Hangul", "\u1112\u1160\u11ab", "\u1112‹U+1160›‹U+11AB›"},
		{"P4 Hangul in parts", "\u1112\u1161\u11abx\u1161", "\u1112\u1161\u11abx‹U+1161›"},
		{"P4 words from right to left", `"\u05e9\u05dc \u05d5\u05dd", a`, `"\u05e9\u05dc \u05d5\u05dd", a`},
		{"P4 digits behind them", "\u05d0 1 2 b 3", "\u05d0 ‹U+0031› 2 b 3"},
		{"P4 signs between them", "/\u05d0\u05d1/\u05d2/x", "/\u05d0\u05d1‹U+002F›\u05d2/x"},
		{"P4 signs before digits behind them", "\u0627, (1)", "\u0627‹U+002C› (1)"},
		{"P4 Arabic digits", "\u0661/\u0662", "\u0661‹U+002F›\u0662"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Visible(tt.text); got != tt.want {
				t.Errorf("Visible(%+q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestVisibleJSON(t *testing.T) {
	t.Parallel()
	text := "{\n\"a\": \"\u202e\u05d0 1, \U000e0041e\u0301\u0301\u0301日\"}"
	want := "{\n\"a\": \"\\u202e\\u05d0 1, \\udb40\\udc41e\u0301\u0301\\u0301日\"}"
	got := VisibleJSON(text)
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var before, after map[string]string
	if err := json.Unmarshal([]byte(text), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &after); err != nil || before["a"] != after["a"] {
		t.Errorf("P4 it stays the same JSON: got %q, want %q (%v)", after["a"], before["a"], err)
	}
}

// Characters alone, on a letter, and behind one that is written from right to left.
func TestVisibleCharacters(t *testing.T) {
	t.Parallel()
	for c := range rune(unicode.MaxRune + 1) {
		// Everything where unlike characters stand beside each other, and of long
		// runs of like ones a few.
		if c > 0x3400 && (c < 0xfb00 || c > 0x10000) && (c < 0xe0000 || c > 0xe0200) && c%64 > 1 || c > 0x32000 && c%0x1000 > 1 && (c < 0xe0000 || c > 0xe0200) {
			continue
		}
		text := string(c) + "b" + string(c) + string(c) + string(c) + " \u05d0" + string(c) + "1"
		got := Visible(text)
		checkShown(t, got)
		if back := unescape(got); back != text && c != utf8.RuneError && utf8.ValidRune(c) {
			t.Errorf("P4 Visible(%+q) = %+q, which means %+q", text, got, back)
		}
		if w := lipgloss.Width(got); w > columns(got) {
			t.Errorf("P4 Visible(%+q) takes %d cells, want at most %d", text, w, columns(got))
		}
	}
}

// FuzzVisible holds what is shown against what Unicode says of characters, not
// against what this package says of them. Nothing that a tool or a model wrote
// controls the terminal.
func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31m\u202e\u200b\n\t\r\x9b1m\x07", 80, 24)
	f.Add("\xff\xfe\u2028 \u00a0\u3164", 24, 8)
	f.Add("e\u0301\u0301\u0301 \u0903\u0903\u0903 \u1112\u1161\u11ab", 30, 9)
	f.Add("e\u0301 \u1112\u1160\xa0\u11ab", 97, 9)
	f.Add("\u05d0\u05d1/\u0661\u0662, 1 (\u0627) b\u05d0", 40, 10)
	f.Add("\u06c0\xa8 \u06c0\xa8\u06c0", 40, 10)
	f.Add("\U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd 1\ufe0f\u20e3", 200, 50)
	f.Fuzz(func(t *testing.T, text string, width, height int) {
		one := Visible(text)
		checkShown(t, one)
		if again := Visible(one); again != one {
			t.Errorf("Visible(%+q) = %+q, want it as it is", one, again)
		}
		if back := unescape(one); !strings.Contains(text, "‹") && back != text {
			t.Errorf("Visible(%+q) = %+q, which means %+q: something is lost", text, one, back)
		}
		if ascii := strings.Map(printable, text); Visible(ascii) != ascii {
			t.Errorf("Visible(%q) = %q, want it as it is", ascii, Visible(ascii))
		}
		for _, c := range VisibleJSON(text) {
			if c != '\n' && !graphic(c) {
				t.Errorf("VisibleJSON(%+q) has %U in it", text, c)
			}
		}
		width, height = min(max(width, 1), 200), min(max(height, 1), 60)
		q := remove()
		q.Tool, q.Input, q.Preview, q.Reason, q.Rule, q.Note, q.Wants, q.Source.Name, q.Offers = text, text, text, text, text, text, text, text, []string{text}
		q.Caller = policy.Asker{Principal: text, Session: text, Client: text}
		now := noon
		s := &screen{ctx: t.Context(), clock: func() time.Time { return now }, desk: Desk{
			Answer: func(context.Context, string, policy.Answer) error { return nil },
		}}
		_, _ = s.Update(tea.WindowSizeMsg{Width: width, Height: height})
		_, _ = s.Update(pendingMsg{list: []policy.Question{q}})
		now = now.Add(time.Hour / 2)
		for _, keys := range []string{"", "<pgdown><pgdown><pgdown><pgdown>", "s", "<enter>", "<esc><esc>", "e", "<right><right>", "<esc>a"} {
			press(s, keys)
			for _, line := range s.lines() {
				if w := lipgloss.Width(line); w > width {
					t.Errorf("%q: got a line of %d cells, want at most %d: %q", keys, w, width, line)
				}
				for _, c := range line {
					if !graphic(c) {
						t.Fatalf("%q: got %U in %q", keys, c, line)
					}
				}
			}
		}
	})
}

func printable(c rune) rune {
	if c >= ' ' && c <= '~' {
		return c
	}
	return -1
}

// graphic reports whether a character can be on a screen at all.
func graphic(c rune) bool {
	switch {
	case c == ' ':
		return true
	case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Z):
		return false
	case c >= 0xfe00 && c <= 0xfe0f, c >= 0xe0000 && c <= 0xe0fff, c == 0x2800, c == 0x3164, c == 0xffa0, c == 0x115f, c == 0x1160:
		return false
	}
	return unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) // what is in none has not been assigned
}

// checkShown looks at each character of a line beside those before it.
func checkShown(t *testing.T, line string) {
	t.Helper()
	marks, based := 0, false
	turned, between := false, false // letters from right to left are open; and a sign stands behind them
	for _, c := range line {
		if !graphic(c) {
			t.Fatalf("got %U in %+q", c, line)
		}
		if unicode.Is(unicode.M, c) {
			if marks++; marks > 2 || !based {
				t.Fatalf("got the mark %U, the %d. in a row, on a letter: %t, in %+q", c, marks, based, line)
			}
			continue
		}
		if c > '~' && lipgloss.Width(string(c)) < 1 {
			t.Fatalf("got %U, which takes no room, in %+q", c, line)
		}
		marks, based = 0, c != ' '
		p, _ := bidi.LookupRune(c)
		class := p.Class()
		leftward := class == bidi.R || class == bidi.AL || class == bidi.AN
		switch {
		case turned && (class == bidi.EN || leftward && between):
			t.Fatalf("got %U, which would change places with what is before it, in %+q", c, line)
		case leftward:
			turned, between = true, false
		case class == bidi.L:
			turned = false
		case turned && c != ' ':
			between = true
		}
	}
}

var escape = regexp.MustCompile(`‹(U\+|x)([0-9A-F]+)›`)

// unescape turns what stands for characters into those.
func unescape(text string) string {
	return escape.ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.ParseUint(strings.Trim(s, "‹›xU+"), 16, 32)
		switch {
		case err != nil:
			return s
		case strings.HasPrefix(s, "‹x"):
			return string([]byte{byte(n)})
		}
		return string(utf8.AppendRune(nil, rune(n)))
	})
}
