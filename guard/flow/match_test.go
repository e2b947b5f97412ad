package flow

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/tool"
)

func nobody(string) bool { return false }

func matching(texts ...string) *matcher {
	x := &index{}
	for i, text := range texts {
		x.add(item{call: fmt.Sprint(i), untrusted: true}, new(tool.Request), text, nil)
	}
	x.settle(nil)
	return &matcher{index: x, own: nobody, values: maxValues}
}

// ways are how a text is passed on without a word of it being changed.
var ways = map[string]func(string) string{
	"as it is":           func(s string) string { return s },
	"in capitals":        strings.ToUpper,
	"spaced":             func(s string) string { return strings.ReplaceAll(s, " ", "\n\t ") },
	"in an address":      url.QueryEscape,
	"in an address path": url.PathEscape,
	"as an address twice": func(s string) string {
		return url.QueryEscape(url.QueryEscape(s))
	},
	"as HTML": html.EscapeString,
	"as JSON": func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
	"in base64": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(s))
	},
	"in base64 for addresses": func(s string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(s))
	},
	"in base64 twice": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
	},
	"as an address three times": func(s string) string {
		return url.QueryEscape(url.QueryEscape(url.QueryEscape(s)))
	},
	"in base64 behind a word":   func(s string) string { return "id" + base64.StdEncoding.EncodeToString([]byte(s)) },
	"in base64 behind a letter": func(s string) string { return "x" + base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"in base64 in two parts": func(s string) string {
		code := base64.StdEncoding.EncodeToString([]byte(s))
		return code[:30] + " " + code[30:]
	},
	"with a sign between letters":  func(s string) string { return strings.Join(strings.Split(s, ""), "-") },
	"in hexadecimal with a prefix": func(s string) string { return "0x" + hex.EncodeToString([]byte(s)) },
	"in hexadecimal, bytes apart":  func(s string) string { return fmt.Sprintf("% X", s) },
	"in hexadecimal escapes": func(s string) string {
		return `\x` + strings.ReplaceAll(fmt.Sprintf("% x", s), " ", `\x`)
	},
	"in hexadecimal": func(s string) string { return hex.EncodeToString([]byte(s)) },
	"with invisible characters": func(s string) string {
		return strings.Join(strings.Split(s, ""), "\u200b")
	},
}

// words that no alphabet above shares, so that a run of them is a copy.
var sentence = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{3,9}[.,"<&é]?`), 12, 40).Draw(t, "words"), " ")
})

func TestCopiesAreFound(t *testing.T) {
	t.Parallel()
	t.Run("G6 a copy is found in whichever way it is passed on", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			before, copied, after := sentence.Draw(t, "before"), sentence.Draw(t, "copied"), sentence.Draw(t, "after")
			for name, way := range ways {
				arg := "x: " + way(copied) + " ."
				// Whichever side is encoded.
				for _, m := range []*matcher{matching(before + "\n" + copied + "\n" + after), matching("other", before+"\n"+way(copied)+"\n"+after)} {
					hits := m.match(arg)
					if len(hits) == 0 {
						t.Fatalf("%s: %q is not found", name, arg)
					}
					for _, h := range hits {
						if h.start < 0 || h.start >= h.end || h.end > len(arg) {
							t.Fatalf("%s: span %d to %d of %d bytes", name, h.start, h.end, len(arg))
						}
					}
				}
			}
		})
	})
	t.Run("G6 a cut of 32 characters is found", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{40}`), 3, 30).Draw(t, "text"), "")
			from := rapid.IntRange(0, len(text)-minRun).Draw(t, "from")
			arg := "0123456789 " + text[from:from+minRun] + " 9876543210"
			hits := matching(text).match(arg)
			if len(hits) == 0 {
				t.Fatalf("%q of %q is not found", arg, text)
			}
			if got := arg[hits[0].start:hits[0].end]; !strings.Contains(got, text[from:from+minRun]) {
				t.Fatalf("got %q, want it to hold %q", got, text[from:from+minRun])
			}
		})
	})
}

func TestMatchKinds(t *testing.T) {
	t.Parallel()
	const result = "Pay to DE89370400440532013000 (Acme Trading) by 2024-05-01, code 463820, interactive."
	for _, tt := range []struct {
		arg  string
		want Match
		part string
	}{
		{"DE89370400440532013000", Exact, "DE89370400440532013000"},
		{"de89 3704 0044 0532 0130 00", Normalised, "de89 3704 0044 0532 0130 00"},
		{"acme trading", Normalised, "acme trading"},
		{"463820", Exact, "463820"},
		{"as agreed, to DE89370400440532013000 please", Exact, "DE89370400440532013000"},
		{"2024-05-01", "", ""},
		{"active", "", ""},
		{"by", "", ""},
		{"something else entirely, of some length, that nobody wrote", "", ""},
	} {
		hits := matching(result).match(tt.arg)
		var how Match
		var part string
		if len(hits) > 0 {
			how, part = hits[0].how, tt.arg[hits[0].start:hits[0].end]
		}
		if how != tt.want || part != tt.part {
			t.Errorf("%q: got %q %q, want %q %q", tt.arg, how, part, tt.want, tt.part)
		}
	}
}

func TestIndexIsBounded(t *testing.T) {
	t.Parallel()
	x := &index{}
	random := func(n, size int) string {
		var b strings.Builder
		for seed := uint64(n)*2654435761 + 1; b.Len() < size; seed = seed*6364136223846793005 + 1442695040888963407 {
			b.WriteByte(byte('a' + seed>>59%26))
		}
		return b.String()
	}
	for n := range 700 {
		x.add(item{call: fmt.Sprint(n), untrusted: true}, new(tool.Request), random(n, 4000), nil)
	}
	x.add(item{call: "large"}, new(tool.Request), random(1000, 3*maxRead), nil)
	if x.waiting > maxWaiting || len(x.waits) > maxItems {
		t.Errorf("%d results of %d bytes wait, want at most %d of %d", len(x.waits), x.waiting, maxItems, maxWaiting)
	}
	x.settle(nil)
	if len(x.items) > maxItems || x.kept > maxText || x.now.n > maxMarks || x.old.n > maxMarks {
		t.Errorf("got %d results, %d bytes, %d and %d fingerprints, want at most %d, %d, %d", len(x.items), x.kept, x.now.n, x.old.n, maxItems, maxText, maxMarks)
	}
	if x.now.n+x.old.n == 0 {
		t.Error("no fingerprints are kept")
	}
	m := &matcher{index: x, own: nobody, values: maxValues}
	if hits := m.match(random(699, 4000)[500:900]); len(hits) == 0 {
		t.Error("G6 a copy of a recent result is not found")
	}
	if hits := m.match(random(0, 4000)[500:900]); len(hits) != 0 {
		t.Error("the oldest result is still there: the test does not show what is forgotten")
	}
	if hits := m.match(random(1000, 3*maxRead)[700_000:701_000]); len(hits) == 0 {
		t.Error("G6 a long copy of a result too large to keep is not found")
	}
}

// A table of fingerprints is a map.
func TestMarks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var m marks
		want := map[uint64]mark{}
		keys := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(0, 2000).Draw(t, "key")<<rapid.SampledFrom([]int{0, 9, 40}).Draw(t, "by") | 1
		})
		for i, key := range rapid.SliceOfN(keys, 0, 1000).Draw(t, "keys") {
			at := mark{uint32(i), uint32(2 * i)}
			m.put(key, at)
			if _, again := want[key]; again {
				at.at |= repeated
			}
			want[key] = at
		}
		for key, at := range want {
			if got, ok := m.find(key); !ok || got != at {
				t.Fatalf("key %d: got %v %t, want %v", key, got, ok, at)
			}
		}
		if key := keys.Draw(t, "another"); m.n != len(want) || want[key] == (mark{}) {
			if got, ok := m.find(key); m.n != len(want) || ok && got != want[key] {
				t.Fatalf("%d keys, want %d; another is found: %t", m.n, len(want), ok)
			}
		}
	})
}

// FuzzMatch: any bytes are a result or an argument.
func FuzzMatch(f *testing.F) {
	f.Add("write to a@b.example", "a@b.example", "to")
	f.Add("%25%", `\u12`, "&#x;")
	f.Add(strings.Repeat("a", 100), strings.Repeat("a", 64), "\xff\xfe")
	f.Add("aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=", "hello world hello world", "://")
	f.Add("aaaaaaa", "aaaaaBaaaaaaaaaaaaaaaaaaaaaaaaa%a", "~")
	f.Fuzz(func(t *testing.T, result, arg, prompt string) {
		m := matching(result, arg+"\n"+result) // apart: an escape that arg begins must not end in result
		var p prompts
		p.hear(prompt)
		m.own = p.wrote
		for _, h := range m.match(arg) {
			if h.from == nil || h.start < 0 || h.start > h.end || h.end > len(arg) {
				t.Fatalf("span %d to %d of %d bytes", h.start, h.end, len(arg))
			}
		}
		if folded := formOf(arg, true); utf8.ValidString(arg) && len(folded.at) != len(folded.text)+1 {
			t.Fatalf("%d offsets for %d bytes", len(folded.at), len(folded.text))
		}
		p.namedHost(address(arg))
		linksIn(arg)
		leaves(arg)
		m.own = nobody
		if plain := formOf(arg, false).text; len(plain) >= minRun && len(arg) < maxEach && len(m.match(arg)) == 0 {
			t.Fatalf("%q is not found in itself", arg)
		}
	})
}
