package tokens

import (
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

func counter(t testing.TB, encoding string) *Counter {
	t.Helper()
	c, err := New(encoding)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text          string
		o200k, cl100k int
	}{
		{"", 0, 0},
		{"\x7f", 1, 1}, // the library has no token for it
		{"hello world", 2, 2},
		{"tiktoken is great!", 6, 6},
		{"antidisestablishmentarianism", 6, 6},
		{"2 + 2 = 4", 7, 7},
		{"お誕生日おめでとう", 8, 9},
		{"<|endoftext|>", 7, 7},
	}
	for _, tt := range tests {
		t.Run("O3 "+tt.text, func(t *testing.T) {
			for encoding, want := range map[string]int{"": tt.o200k, "o200k_base": tt.o200k, "cl100k_base": tt.cl100k} {
				if got := counter(t, encoding).Count(tt.text); got != want {
					t.Errorf("%q: Count(%q) = %d, want %d", encoding, tt.text, got, want)
				}
			}
		})
	}
	if got := new(Counter).Count("hello world"); got != 2 {
		t.Errorf("zero value: got %d, want 2", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"gpt2", "O200K_BASE", "r50k_base", " "} {
		_, err := New(encoding)
		if err == nil || !strings.HasSuffix(err.Error(), `, want o200k_base or cl100k_base`) {
			t.Errorf("New(%q): got error %v, want one that lists the encodings", encoding, err)
		}
	}
}

func TestCountAtOnce(t *testing.T) {
	t.Parallel()
	c := counter(t, "")
	text := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 100)
	want := counter(t, "").Count(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := c.Count(text); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
	wg.Wait()
}

// mixed are texts of every kind that has boundaries, and the characters at which
// the encodings differ.
func mixed() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"a", "The", "HTTPServer", "don't", "we'LL", "'s", "1", "12345", "3.14", "世界", "。", "、", "é", "e\u0301", "\u0301", "ʰ", "ǅ", "½", "٣", "🎉", "\u200d",
		" ", "  ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u2003", "\u0085", "\u2028", "/", "//", "\n/", ".\n", "{", `":`, `","`, "=", "<", "--", "_", "'", "’", "\x00", "\x7f", "\xff", "\xe4\xb8",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 60).Draw(t, "words"), "")
	})
}

// Cutting at a boundary changes nothing, wherever it is.
func TestBoundaries(t *testing.T) {
	t.Parallel()
	for _, encoding := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		count := func(t *rapid.T, text string) int {
			n, err := codec.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		t.Run("O3 "+string(encoding), rapid.MakeCheck(func(t *rapid.T) {
			text := mixed().Draw(t, "text")
			whole := count(t, text)
			before := rune(0)
			for i, r := range text {
				if i > 0 && boundary(before, r) {
					if sum := count(t, text[:i]) + count(t, text[i:]); sum != whole {
						t.Fatalf("%q | %q: got %d tokens, want %d", text[:i], text[i:], sum, whole)
					}
				}
				before = r
			}
		}))
	}
}

// Long texts that have boundaries are counted exactly, however many pieces that
// makes; runs that have none are counted too high, but not by much, and not in
// the square of their length.
func TestLong(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, unit string
		exact      bool
	}{
		{"O3 prose", "It's 10 o'clock; the quick brown fox jumps over 12 lazy dogs. ", true},
		{"O3 lines", "one\ntwo\n/three\n\n\tfour\r\n", true},
		{"O3 JSON", `{"id":12,"name":"a","tags":["x","y"],"ok":true},`, true},
		{"O3 indented JSON", "    {\n      \"id\": 12,\n      \"tags\": [\n        \"x\"\n      ]\n    },\n", true},
		{"O3 Chinese", "世界上最好的人,都在这里。", true},
		{"O3 base64", "iVBORw0KGgoAAAANSUhEUgAAAAUA", true},
		{"O3 one letter", "a", false},
		{"O3 one sign", "-", false},
		{"O3 blank lines", "\n ", false},
		{"O3 spaces", " ", false},
		{"O3 bytes", "\xff", false},
		{"O3 Chinese without end", "世界", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(tt.unit, 6_000/len(tt.unit))
			for _, encoding := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
				codec, err := tokenizer.Get(encoding)
				if err != nil {
					t.Fatal(err)
				}
				want, err := codec.Count(text)
				if err != nil {
					t.Fatal(err)
				}
				got := counter(t, string(encoding)).Count(text)
				if most := want + (len(text)/most+1)*2*cutCost; got < want || got > most || tt.exact && got != want {
					t.Errorf("%s: got %d, want %d, or if not exact up to %d", encoding, got, want, most)
				}
			}
		})
	}
}

// No run is counted whole: the time of 200 KB is that of 100 short pieces.
func TestCutIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.StringN(1, 4, -1).Draw(t, "unit")
		text := strings.Repeat(unit, 3*most/len(unit)+1) + mixed().Draw(t, "end")
		n, _ := cut(text)
		if n < enough-4 || n > most+4 {
			t.Errorf("cut of %q repeated: got %d, want %d to %d", unit, n, enough, most)
		}
	})
}

// broken is a library that does not do what it should.
type broken struct {
	tokenizer.Codec
	count func() (int, error)
}

func (b broken) Count(string) (int, error) { return b.count() }

func TestBrokenLibrary(t *testing.T) {
	t.Parallel()
	for name, codec := range map[string]tokenizer.Codec{
		"O3 none":  nil,
		"O3 error": broken{count: func() (int, error) { return 0, tokenizer.ErrInvalidUTF8 }},
		"O3 panic": broken{count: func() (int, error) { panic("out of range") }},
	} {
		t.Run(name, func(t *testing.T) {
			c := new(Counter)
			c.once.Do(func() { c.codec = codec })
			if got := c.Count("hello world"); got != 11 {
				t.Errorf("got %d, want 11, the length", got)
			}
		})
	}
}

func FuzzCount(f *testing.F) {
	for _, s := range []string{"", "hello world", strings.Repeat("a", 5000), strings.Repeat("\n ", 2500), "\xff\xfe", "<|endoftext|>", strings.Repeat("\x80", 3000)} {
		f.Add(s)
	}
	counters := []*Counter{counter(f, "o200k_base"), counter(f, "cl100k_base")}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range counters {
			if n := c.Count(text); n < 0 || n > len(text) || n == 0 && text != "" {
				t.Errorf("%s: got %d for %d bytes", c.encoding, n, len(text))
			}
		}
	})
}
