package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/internal/leak"
)

const token = `ghp_16C7e42F292c6912E7710c838347Ae178B4a`

const pem = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACBk3l1mP0yLhNq0h1dJpV1vFQbq4m0QWw1y7JpZ5cH3WQAAAJgGxk5XBsZO
short
-----END OPENSSH PRIVATE KEY-----`

func TestScrub(t *testing.T) {
	t.Parallel()
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, tt := range []struct{ name, value, text, want string }{
		{"plain", token, "token: " + token + ".", "token: [secret s0]."},
		{"twice", token, token + token, "[secret s0][secret s0]"},
		{"a value that is short", "1234", "x1234567", "x[secret s0]567"},
		{"no value", token, "ghp_16C7e42F292c", "ghp_16C7e42F292c"},
		{"the end is cut off", token, "x " + token[:30], "x [secret s0]"},
		{"the end is cut off early", token, "x " + token[:19], "x " + token[:19]},
		{"JSON", `a"b\c/d` + "\n", `{"x":"a\"b\\c\/d\n"}`, `{"x":"[secret s0]"}`},
		{"JSON by numbers", "pass<word>", `{"x":"\u0070\u0061ss\u003Cword\u003e"}`, `{"x":"[secret s0]"}`},
		{"JSON of another script", "пароль😀", `{"x":"\u043f\u0430\u0440\u043e\u043b\u044c\ud83d\uDE00"}`, `{"x":"[secret s0]"}`},
		{"JSON in JSON", `a"b\cd`, `{"x":"{\"y\":\"a\\\"b\\\\cd\"}"}`, `{"x":"{\"y\":\"[secret s0]\"}"}`},
		{"JSON in JSON by numbers", "secretword", `"\\u0073ecret\u005cu0077ord"`, `"[secret s0]"`},
		{"a number stays JSON", "12345678", `{"pin":12345678,"a":[true,null,1.5]}`, `{"pin":"[secret s0]","a":[true,null,1.5]}`},
		{"what follows a backslash stays JSON", "n1234567", `{"x":"\n1234567"}`, `"{\"x\":\"\\[secret s0]\"}"`},
		{"URL", "a b&c=d/é", "q=a+b%26c%3dd%2F%C3%A9&x", "q=[secret s0]&x"},
		{"URL, every byte", "p@ss", "%70%40%73%73", "[secret s0]"},
		{"URL twice", "p@ss", "%2570%2540ss", "[secret s0]"},
		{"Go", "p@ss\x01", `"p@ss\x01"`, `"[secret s0]"`},
		{"base64", token, "Basic " + b64(token) + " end", "Basic [secret s0] end"},
		{"base64 of one more in front", "user:" + "pass", b64("xuser:passy"), "eH[secret s0]k="},
		{"base64 with its padding", "passw", b64("passw") + ";", "[secret s0];"},
		{"base64 for URLs", "\xff\xfe\xfd\xfc\xfb?>", "__79_Ps_Pg", "[secret s0]"},
		{"base64 in a URL", "\xff\xfe\xfd\xfc\xfb?>", "%2F%2F79%2FPs%2FPg%3D%3D", "[secret s0]"},
		{"JSON in a URL", `a"b\cd`, `%7B%22x%22%3A%22a%5C%22b%5C%5Ccd%22%7D`, `%7B%22x%22%3A%22[secret s0]%22%7D`},
		{"a URL in JSON in JSON", "p@ss é/", `"{\"u\":\"a?q=p%40ss\\u0025c3%C3%A9%2F\"}"`, `"{\"u\":\"a?q=p%40ss\\u0025c3%C3%A9%2F\"}"`},
		{"a URL in JSON, encoded by numbers", "p@ss é/", `"{\"u\":\"a?q=p\\u002540ss+\\u0025C3%A9%2f\"}"`, `"{\"u\":\"a?q=[secret s0]\"}"`},
		{"a percent sign in front of it", "ab c&d/", "50%ab%20c%26d%2F", "50%[secret s0]"},
		{"a percent sign in front of it, URL twice", "ab c&d/", "50%ab%2520c%2526d%252F", "50%[secret s0]"},
		{"a backslash in front of it", `Ab"cd"ef`, `C:\\u0041b\"cd\"ef`, `C:[secret s0]`},
		{"a backslash in front of what is as it is", `nab"cd"ef`, `C:\nab\"cd\"ef`, `C:\[secret s0]`},
		{"what looks like an escape in it, printed as it is", "a%41b c/def", "x=a%41b%20c%2Fdef", "x=[secret s0]"},
		{"bytes that are no text at all", "\xfd\xfd\xfd\xfd\xfd\xfd", "0 \xfd\xfd\xfd\xfd\xfd\xfd \uFFFD", "0 [secret s0] \uFFFD"},
		{"hex", "p@ssword", "0x7040737377 70407373776F7264", "0x7040737377 [secret s0]"},
		{"hex of many lines", token, "6768705f313643376534324632393263363931324537\r\n373130633833383334374165313738423461.", "[secret s0]."},
		{"a key as a whole", pem, "key:\n" + pem + "\nend", "key:\n[secret s0]\nend"},
		{"a line of a key", pem, "  QyNTUxOQAAACBk3l1mP0yLhNq0h1dJpV1vFQbq4m0QWw1y7JpZ5cH3WQAAAJgGxk5XBsZO\n", "  [secret s0]\n"},
		{"its first line is no secret", pem, "-----BEGIN OPENSSH PRIVATE KEY-----\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n"},
		{"bytes that are no text", "ab\xff\xfecd", "ab\uFFFDcd ab\uFFFD\uFFFDcd", "[secret s0] [secret s0]"},
		{"a value that the mark holds", "secret", "my secret", "my [s0]"},
	} {
		t.Run("K3 "+tt.name, func(t *testing.T) {
			t.Parallel()
			v := vaultOf(t, tt.value)
			got, found := v.Scrub(tt.text)
			if got != tt.want {
				t.Errorf("Scrub(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if changed := tt.text != tt.want; changed != slices.Equal(found, []string{"s0"}) {
				t.Errorf("Scrub(%q) found %q", tt.text, found)
			}
			if json.Valid([]byte(tt.text)) && !json.Valid([]byte(got)) {
				t.Errorf("Scrub(%q) = %q, which is not JSON any more", tt.text, got)
			}
			for size := 1; size < 8; size++ {
				if out := streamed(v.Stream().Write, tt.text, size); len(out) > len(tt.text)+len("[secret s0]")*2 {
					t.Errorf("in pieces of %d: %q", size, out)
				}
			}
		})
	}
}

// streamed is what write passes on of a text in pieces.
func streamed(write func(string) string, text string, size int) string {
	var b strings.Builder
	for piece := range slices.Chunk([]byte(text), size) {
		b.WriteString(write(string(piece)))
	}
	return b.String()
}

func TestScrubJSON(t *testing.T) {
	t.Parallel()
	v := vaultOf(t, "12345678", "true", "{\"a\":1}")
	for text, want := range map[string]string{
		`12345678`:              `"[secret s0]"`,
		`[true]`:                `"[[secret s1]]"`,
		`{"12345678":{"b":[]}}`: `{"[secret s0]":{"b":[]}}`,
		`{"a":1}`:               `"[secret s2]"`,
		`{"b":2}`:               `{"b":2}`,
	} {
		got, _ := v.ScrubJSON(json.RawMessage(text))
		if string(got) != want {
			t.Errorf("ScrubJSON(%s) = %s, want %s", text, got, want)
		}
	}
}

// Values that overlap leave nothing of either.
func TestScrubOverlap(t *testing.T) {
	t.Parallel()
	v := vaultOf(t, "abcdefgh", "efghijkl", "cdef")
	got, found := v.Scrub("--abcdefghijkl--")
	if got != "--[secret s0]--" || !slices.Equal(slices.Sorted(slices.Values(found)), []string{"s0", "s1", "s2"}) {
		t.Errorf("got %q, found %q", got, found)
	}
}

// Any value, in any spelling, between any pieces of a stream.
func TestScrubProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_/+=-]{8,48}`),
			rapid.StringMatching(`[ -~]{6,20}`),
			rapid.StringMatching(`[ -~é世😀]{5,12}`),
			rapid.StringMatching(`[a-z\n"\\%+ ]{6,16}`),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 6, 40), func(b []byte) string { return string(b) }),
		).Filter(func(s string) bool { return strings.Trim(s, " +%.") == s }).Draw(t, "value")
		c := leak.Choose(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		noise := rapid.StringMatching(`([ .:;#&?!\n]|done|50%|\\n|%20|YWJj){0,12}`)
		before, after := noise.Draw(t, "before"), noise.Draw(t, "after")
		text, way := leak.Spell(c, value)
		v := vaultOf(t, value, "another value of no concern")
		checkScrub(t, v.Scrub, before, text, after, value, way)
		s := v.Stream()
		var out strings.Builder
		for rest := before + text + after; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 12)).Draw(t, "piece")
			out.WriteString(s.Write(rest[:n]))
			rest = rest[n:]
		}
		out.WriteString(s.Flush())
		checkScrub(t, func(string) (string, []string) { return out.String(), s.Found() }, before, text, after, value, way+", streamed")
		if whole, _ := v.Scrub(before + text + after); whole != out.String() && !json.Valid([]byte(before+text+after)) {
			t.Errorf("%s: streamed %q, want %q as for the whole text", way, out.String(), whole)
		}
	})
}

// A value in a text that is looked at in blocks.
func TestScrubLong(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Za-z0-9 "\\%/]{8,40}`).Filter(func(s string) bool { return strings.Trim(s, ` %"\`) == s }).Draw(t, "value")
		c := leak.Choose(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		text, way := leak.Spell(c, value)
		noise := strings.Repeat(rapid.SampledFrom([]string{". ", `\\ `, "%25 ", "\n ", `\u0020`, "; %2520"}).Draw(t, "noise"), 20<<10)
		before := rapid.IntRange(16<<10-100, 16<<10+20).Draw(t, "before")
		long := noise[:before] + " " + text + " " + noise[:40<<10]
		got, found := vaultOf(t, value).Scrub(long)
		if len(found) == 0 {
			t.Fatalf("%s: %q was not found as %q", way, value, text)
		}
		want := vaultOf(t, value)
		if short, _ := want.Scrub(" " + text + " "); strings.Count(got, "[secret s0]") < strings.Count(short, "[secret s0]") {
			t.Errorf("%s: %q is still there, want %q", way, text, short)
		}
	})
}

// A text and a value that repeat themselves take no longer than others.
func TestScrubRepeated(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("a", 500)
	for _, tt := range []struct {
		name, value, unit string
	}{
		{"the end is another", a + "b", "a"},
		{"the middle is another", a + "b" + a, "a"},
		{"it is nothing else", a, "a"},
		{"escaped", a + "b", `\u0061`},
		{"in base64", a + "b", "YWFh"},
		{"backslashes", strings.Repeat(`\`, 100) + "b", `\`},
	} {
		t.Run("K3 "+tt.name, func(t *testing.T) {
			t.Parallel()
			v := vaultOf(t, tt.value)
			rest := strings.Repeat(tt.unit, 1<<18/len(tt.unit))
			begin := time.Now()
			got, _ := v.Scrub(rest + "." + tt.value + "." + rest)
			if took := time.Since(begin); took > time.Minute { // generous: the machine may be busy, and a square of the text is hours
				t.Errorf("it took %s", took)
			}
			if strings.Contains(got, tt.value) {
				t.Error("the value is still there")
			}
		})
	}
}

type failer interface {
	Errorf(format string, args ...any)
}

func checkScrub(t failer, scrub func(string) (string, []string), before, text, after, value, way string) {
	got, found := scrub(before + text + after)
	if len(found) == 0 {
		t.Errorf("%s: %q was not found in %q", way, value, before+text+after)
	}
	if how := leak.Way(got, value); how != "" {
		t.Errorf("%s: %q can be read as %s in %q, made of %q", way, value, how, got, before+text+after)
	}
}

// Text without a value stays as it is.
func TestScrubLeavesAlone(t *testing.T) {
	t.Parallel()
	v := vaultOf(t, token, pem, "correct horse battery staple")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z0-9 .\n]{1,5}|ghp_|\\u00|%2|%20|\\n|\\\\|Z2hw|[A-Za-z0-9+/=]{3,9}|correct){0,30}`).Draw(t, "text")
		if got, found := v.Scrub(text); got != text || found != nil {
			t.Fatalf("Scrub(%q) = %q, found %q", text, got, found)
		}
		s := v.Stream()
		var out string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			out += s.Write(rest[:n])
			rest = rest[n:]
		}
		if out += s.Flush(); out != text {
			t.Fatalf("streamed %q, want %q", out, text)
		}
	})
}

func FuzzScrub(f *testing.F) {
	f.Add("hunter2!", "before ", " after", []byte{1, 2, 3, 4, 5})
	f.Add(token, "\\u00", "%2", []byte{5, 0, 0, 1})
	f.Add("a b\"c\\d%", "+", "=", []byte{3, 2, 1, 9, 9, 9})
	f.Fuzz(func(t *testing.T, value, before, after string, choices []byte) {
		if len(value) < 6 || len(value) > 200 || len(before)+len(after) > 400 || strings.Trim(value, " +%\\") != value {
			return
		}
		at := 0
		c := leak.Choose(func(n int) int {
			if at++; len(choices) == 0 {
				return 0
			}
			return int(choices[at%len(choices)]) % n
		})
		text, way := leak.Spell(c, value)
		if way == "base64" && before+after != "" { // what is around it would be a part of it
			before, after = " ", " "
		}
		before += " "
		v := vaultOf(t, value)
		checkScrub(t, v.Scrub, before, text, " "+after, value, way)
		s := v.Stream()
		var out strings.Builder
		for rest := before + text + " " + after; rest != ""; {
			n := 1 + c(len(rest))
			out.WriteString(s.Write(rest[:n]))
			rest = rest[n:]
		}
		out.WriteString(s.Flush())
		checkScrub(t, func(string) (string, []string) { return out.String(), s.Found() }, before, text, after, value, fmt.Sprint(way, ", streamed"))
	})
}
