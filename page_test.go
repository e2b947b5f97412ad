package ferrule

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ferrule-dev/ferrule/durable"
	"github.com/ferrule-dev/ferrule/tool"
)

// keptText is a text as a store gives it.
func keptText(t interface{ Fatal(...any) }, text string) *durable.Blob {
	store := new(durable.Memory)
	handle, err := store.Put(context.Background(), "o", durable.Note{}, text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := store.Open(context.Background(), "o", handle)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// page is what a request reads, and what is said about it.
func (r pageRequest) page(b *durable.Blob, m meter) (text, said string, err error) {
	if err := r.check(); err != nil {
		return "", "", err
	}
	content, err := r.read(context.Background(), b, m)
	if err != nil {
		return "", "", err
	}
	if len(content) == 2 {
		text = content[0].Text
	}
	return text, content[len(content)-1].Text, nil
}

func TestReadResult(t *testing.T) {
	t.Parallel()
	plain := meter{chars: pageChars, tokens: pageTokens}
	for _, tt := range []struct {
		rule, text string
		r          pageRequest
		want, said string
	}{
		{"O5 from the start", "one\ntwo\n", pageRequest{}, "one\ntwo\n", "[Bytes 0 to 8 of 8: the end.]"},
		{"O5 from an offset", "one\ntwo\n", pageRequest{Offset: 4}, "two\n", "[Bytes 4 to 8 of 8: the end.]"},
		{"O5 from an offset within a character: from its beginning", "a€b", pageRequest{Offset: 3}, "€b", "[Bytes 1 to 5 of 5: the end.]"},
		{"O5 from the end", "one", pageRequest{Offset: 3}, "", "[Bytes 3 to 3 of 3: the end.]"},
		{"O5 lines", "a\nb\nc\nd\n", pageRequest{Lines: "2-3"}, "b\nc\n", `[Lines 2 to 3, bytes 2 to 6 of 8. Go on with lines "4-".]`},
		{"O5 one line", "a\nb\nc\n", pageRequest{Lines: "2"}, "b\n", `[Lines 2 to 2, bytes 2 to 4 of 6. Go on with lines "3-".]`},
		{"O5 lines to the end", "a\nb\nc", pageRequest{Lines: "2-"}, "b\nc", "[Lines 2 to 3, bytes 2 to 5 of 5: the end.]"},
		{"O5 lines beyond the end", "a\nb\nc", pageRequest{Lines: "2-99"}, "b\nc", "[Lines 2 to 3, bytes 2 to 5 of 5: the end.]"},
		{"O5 the last lines", "a\nb\nc\n", pageRequest{Lines: "-2"}, "b\nc\n", "[Lines 2 to 3, bytes 2 to 6 of 6: the end.]"},
		{"O5 more last lines than there are", "a\nb", pageRequest{Lines: "-9"}, "a\nb", "[Lines 1 to 2, bytes 0 to 3 of 3: the end.]"},
		{"O5 empty lines", "\n\n\n", pageRequest{Lines: "2-"}, "\n\n", "[Lines 2 to 3, bytes 1 to 3 of 3: the end.]"},
		{"O5 a pattern", "one\ntwo\nthree\n", pageRequest{Pattern: "^t"}, "2 (offset 4): two\n3 (offset 8): three\n", "[Found in 2 lines from offset 0 to the end.]"},
		{"O5 a pattern from an offset", "one\ntwo\nthree\n", pageRequest{Pattern: "t", Offset: 8}, "3 (offset 8): three\n", "[Found in 1 line from offset 8 to the end.]"},
		{"O5 a pattern at the end of lines that Windows wrote", "one\r\ntwo\r\n", pageRequest{Pattern: "o$"}, "2 (offset 5): two\n", "[Found in 1 line from offset 0 to the end.]"},
		{"O5 a pattern that is nowhere", "one\n", pageRequest{Pattern: "x"}, "", "[Found in 0 lines from offset 0 to the end.]"},
		{
			"O5 a pattern in a long line: what is around it", strings.Repeat("x", 1000) + "here" + strings.Repeat("y", 1000),
			pageRequest{Pattern: "here"},
			"1 (offset 800): …" + strings.Repeat("x", 200) + "here" + strings.Repeat("y", 200) + "…\n", "[Found in 1 line from offset 0 to the end.]",
		},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			text, said, err := tt.r.page(keptText(t, tt.text), plain)
			if text != tt.want || said != tt.said || err != nil {
				t.Errorf("%+v of %.40q: got %q, %q, %v; want %q, %q", tt.r, tt.text, text, said, err, tt.want, tt.said)
			}
		})
	}
	for _, tt := range []struct {
		rule string
		r    pageRequest
		want string
	}{
		{"O5 an offset behind the end", pageRequest{Offset: 9}, "offset: got 9, want at most 8, the size of the result in bytes"},
		{"O5 lines and a pattern", pageRequest{Lines: "1", Pattern: "x"}, "lines: got offset or pattern beside it, want one of them"},
		{"O5 lines and an offset", pageRequest{Lines: "1", Offset: 3}, "lines: got offset or pattern beside it, want one of them"},
		{"O5 lines that are none", pageRequest{Lines: "x"}, `lines: got "x", want "10-20", "10-", "-20" or "10"`},
		{"O5 line 0", pageRequest{Lines: "0"}, `lines: got "0", want`},
		{"O5 lines backwards", pageRequest{Lines: "3-2"}, `lines: got "3-2", want`},
		{"O5 no lines", pageRequest{Lines: "-"}, `lines: got "-", want`},
		{"O5 a line behind the end", pageRequest{Lines: "3"}, "lines: got line 3, want at most 2, the number of lines"},
		{"O5 a number that is too large", pageRequest{Lines: "99999999999999999999"}, "lines: got"},
		{"O5 a pattern that would take for ever", pageRequest{Pattern: "(x{30}){30}y{900}"}, "pattern: got one of 1862 steps, want a simpler one"},
		{"O5 a pattern that is none", pageRequest{Pattern: "("}, "pattern: error parsing regexp"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			text, _, err := tt.r.page(keptText(t, "one\ntwo\n"), plain)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: got %q and %v, want the error %q", tt.r, text, err, tt.want)
			}
		})
	}
	t.Run("O5 pages of any size, by offset: every byte, no character in halves", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			text := strings.ToValidUTF8(textOf().Draw(r, "text"), "\uFFFD")
			m := meter{chars: rapid.IntRange(4, 300).Draw(r, "chars"), tokens: rapid.IntRange(4, 300).Draw(r, "tokens")}
			if rapid.Bool().Draw(r, "counted") {
				m.count = func(s string) int { return len(s) }
			}
			b := keptText(r, text)
			var got strings.Builder
			for at := int64(0); ; {
				page, said, err := pageRequest{Offset: at}.page(b, m)
				if err != nil || !utf8.ValidString(page) || utf8.RuneCountInString(page) > m.chars || m.count != nil && len(page) > m.tokens || len(page) > 4*m.tokens {
					r.Fatalf("page at %d = %q, %v", at, page, err)
				}
				got.WriteString(page)
				_, after, more := strings.Cut(said, "Go on with offset ")
				if !more {
					break
				}
				if at, err = strconv.ParseInt(strings.TrimSuffix(after, ".]"), 10, 64); err != nil || page == "" {
					r.Fatalf("said %q: %v", said, err)
				}
			}
			if got.String() != text {
				r.Fatalf("got %q, want %q", got.String(), text)
			}
		})
	})
	t.Run("O5 lines are those that a text has", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			text := rapid.StringOfN(rapid.RuneFrom([]rune("a\n€")), 1, 60, -1).Draw(r, "text")
			lines := strings.SplitAfter(text, "\n")
			if lines[len(lines)-1] == "" {
				lines = lines[:len(lines)-1]
			}
			first := rapid.IntRange(1, len(lines)).Draw(r, "first")
			last := rapid.IntRange(first, len(lines)+2).Draw(r, "last")
			got, _, err := pageRequest{Lines: fmt.Sprintf("%d-%d", first, last)}.page(keptText(r, text), plain)
			if want := strings.Join(lines[first-1:min(last, len(lines))], ""); got != want || err != nil {
				r.Fatalf("lines %d to %d of %q: got %q, %v; want %q", first, last, text, got, err, want)
			}
			n := rapid.IntRange(1, len(lines)).Draw(r, "n")
			if got, _, err := (pageRequest{Lines: fmt.Sprintf("-%d", n)}).page(keptText(r, text), plain); got != strings.Join(lines[len(lines)-n:], "") || err != nil {
				r.Fatalf("the last %d lines of %q: got %q, %v", n, text, got, err)
			}
		})
	})
	t.Run("O5 a pattern finds every line that has it, over many pages and borders of what is read at once", func(t *testing.T) {
		t.Parallel()
		var b strings.Builder
		var want []string
		for i := range 20_000 {
			at := b.Len()
			line := fmt.Sprintf("%0*d €uro", i%50, i)
			if i%7 == 0 {
				line += " found"
				want = append(want, fmt.Sprintf("%d (offset %d): %s\n", i+1, at, line))
			}
			b.WriteString(line + "\n")
		}
		var got strings.Builder
		next := regexp.MustCompile(`go on with the pattern and offset (\d+)`)
		blob := keptText(t, b.String())
		for at := int64(0); ; {
			page, said, err := pageRequest{Pattern: "found$", Offset: at}.page(blob, plain)
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(page)
			more := next.FindStringSubmatch(said)
			if more == nil {
				break
			}
			at, _ = strconv.ParseInt(more[1], 10, 64)
		}
		if got.String() != strings.Join(want, "") {
			t.Errorf("got %d bytes, want %d", got.Len(), len(strings.Join(want, "")))
		}
	})
	t.Run("O5 a line that is longer than what is read at once is looked at in pieces", func(t *testing.T) {
		t.Parallel()
		text := strings.Repeat("€", 100_000) + "here\nnext\n"
		page, _, err := pageRequest{Pattern: "here|next"}.page(keptText(t, text), plain)
		if err != nil || !utf8.ValidString(page) || strings.Count(page, "\n") != 2 || !strings.HasPrefix(page, "1 (offset ") || !strings.Contains(page, "2 (offset 300005): next\n") {
			t.Errorf("page = %q, %v", page, err)
		}
	})
	var rows strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&rows, `{"id":%d,"state":"error"},`, i)
	}
	for _, tt := range []struct {
		rule, text, pattern string
		hits                int      // what was found and is shown
		want                []string // some of it
		said                string
	}{
		{"O5 in a long line: on the border of what is read at once", strings.Repeat("x", readAtOnce-3) + "needle" + strings.Repeat("y", 1000), "needle", 1, []string{"xxneedleyy"}, "[Found in 1 line "},
		{"O5 in a long line: every place, not the first alone", rows.String(), `"id":[0-9]*999,`, 3, []string{`"id":999,`, `"id":1999,`, `"id":2999,`}, "[Found at 3 places in 1 line "},
		{"O5 in a long line: its beginning is found once", strings.Repeat("x", 3*readAtOnce), "^x", 1, []string{"1 (offset 0): xx"}, "[Found in 1 line "},
		{"O5 in a long line: so is its end", strings.Repeat("x", 3*readAtOnce) + "\n", "x$", 1, []string{"xx\n"}, "[Found in 1 line "},
		{"O5 in a long line: it counts as one", strings.Repeat("needle"+strings.Repeat("x", readAtOnce), 3) + "\nneedle\n", "needle", 4, nil, "[Found at 4 places in 2 lines "},
		{"O5 behind a carriage return that is on the border", strings.Repeat("x", readAtOnce-1) + "\r\nneedle\n", "needle", 1, []string{fmt.Sprintf("2 (offset %d): needle\n", readAtOnce+1)}, "[Found in 1 line "},
		{"O5 a line of which the border leaves its end is not empty", strings.Repeat("x", readAtOnce-1) + "\r\nneedle\n", "^$", 0, nil, "[Found in 0 lines "},
		{"O5 an empty line that Windows wrote", "a\r\n\r\nb\r\n", "^$", 1, []string{"2 (offset 3): \n"}, "[Found in 1 line "},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			page, said, err := pageRequest{Pattern: tt.pattern}.page(keptText(t, tt.text), plain)
			if err != nil || strings.Count(page, "(offset ") != tt.hits || !strings.HasPrefix(said, tt.said) {
				t.Errorf("found %d, said %q, %v; want %d and %q", strings.Count(page, "(offset "), said, err, tt.hits, tt.said)
			}
			for _, want := range tt.want {
				if !strings.Contains(page, want) {
					t.Errorf("page = %.300q, want %q in it", page, want)
				}
			}
		})
	}
	t.Run("O5 a call that is stopped stops reading", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, r := range []pageRequest{{}, {Lines: "-1"}, {Pattern: "x"}} {
			if _, err := r.read(ctx, keptText(t, "text"), plain); !errors.Is(err, context.Canceled) {
				t.Errorf("%+v: got %v", r, err)
			}
		}
	})
	t.Run("O5 a store that gives less than it said", func(t *testing.T) {
		t.Parallel()
		b := keptText(t, "text")
		b.Size = 100
		for _, r := range []pageRequest{{}, {Lines: "-1"}, {Pattern: "x"}} {
			if _, err := r.read(t.Context(), b, plain); err == nil || !strings.Contains(err.Error(), "shorter than it was") {
				t.Errorf("%+v: got %v", r, err)
			}
		}
	})
	t.Run("O1 the page is text, then what is said about it", func(t *testing.T) {
		t.Parallel()
		content, err := pageRequest{}.read(t.Context(), keptText(t, "a"), plain)
		if err != nil || len(content) != 2 || content[0].Type != tool.TextContent || content[0].Text != "a" {
			t.Errorf("content = %v, %v", content, err)
		}
	})
}

// Whatever is asked of whatever text, there is a page or an error, in time.
func FuzzPage(f *testing.F) {
	f.Add("one\ntwo\n", int64(0), "", "")
	f.Add("one\r\ntwo", int64(2), "", "o$")
	f.Add("€€€\n\n", int64(0), "-2", "")
	f.Add(strings.Repeat("x", 70_000), int64(40_000), "", "x{10}")
	f.Add("a\xff\xfe\n", int64(1), "1-2", "")
	f.Fuzz(func(t *testing.T, text string, offset int64, lines, pattern string) {
		if len(text) > 1<<20 || len(pattern) > 200 || offset < 0 {
			return
		}
		r := pageRequest{Offset: offset, Lines: lines, Pattern: pattern}
		m := meter{chars: pageChars, tokens: pageTokens}
		page, said, err := r.page(keptText(t, text), m)
		if err == nil && (!utf8.ValidString(page+said) || utf8.RuneCountInString(page) > pageChars || said == "") {
			t.Errorf("%+v: page %.100q, said %q", r, page, said)
		}
	})
}
