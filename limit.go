package ferrule

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// What a result may put into the model's context where its tool says nothing.
const (
	defaultChars  = 64_000
	defaultTokens = 16_384
	bytesPerToken = 4 // an estimate
)

// limit is phase 11: what is too long is cut, and said is told. Pictures and
// sounds pass.
func limit(res tool.Result, l tool.Limit, said func(string)) tool.Result {
	most := maxChars(l)
	if most < 0 || sizeOf(res) <= most { // bytes: never fewer than characters
		return res
	}
	total := 0
	for i := range res.Content {
		total += utf8.RuneCountInString(textIn(&res.Content[i]))
	}
	if res.Err != nil {
		if n := utf8.RuneCountInString(res.Err.Text); n > most {
			e := *res.Err
			e.Text = cutMiddle(e.Text, n, most)
			res.Err = &e
			said(fmt.Sprintf("%d characters of an error", n))
		}
	}
	if total <= most {
		return res
	}
	said(fmt.Sprintf("%d characters, at most %d", total, most))
	return cutContent(res, l.Cut, total, most)
}

// maxChars is the smaller of the two limits, in characters; -1: none.
func maxChars(l tool.Limit) int {
	chars, tokens := l.Chars, l.Tokens
	if chars == 0 {
		chars = defaultChars
	}
	if tokens == 0 {
		tokens = defaultTokens
	}
	if tokens > 0 {
		tokens *= bytesPerToken
	}
	switch {
	case chars < 0:
		return tokens
	case tokens < 0:
		return chars
	}
	return min(chars, tokens)
}

func sizeOf(res tool.Result) (n int) {
	for i := range res.Content {
		switch b := &res.Content[i]; b.Type {
		case tool.TextContent:
			n += len(b.Text)
		case tool.JSONContent:
			n += len(b.JSON)
		case tool.ImageContent, tool.AudioContent, tool.LinkContent:
		}
	}
	if res.Err != nil {
		n += len(res.Err.Text)
	}
	return n
}

// textIn is what counts of a block.
func textIn(b *tool.Content) string {
	switch b.Type {
	case tool.TextContent:
		return b.Text
	case tool.JSONContent:
		return string(b.JSON)
	case tool.ImageContent, tool.AudioContent, tool.LinkContent:
	}
	return ""
}

// cutContent makes one text of all texts, cut. Structured output is left out
// whole: cut JSON is no JSON.
func cutContent(res tool.Result, how string, total, most int) tool.Result {
	var texts []tool.Content
	var others []tool.Content
	for _, b := range res.Content {
		if b.Type == tool.TextContent || b.Type == tool.JSONContent {
			texts = append(texts, tool.Content{Type: tool.TextContent, Text: textIn(&b)})
		} else {
			others = append(others, b)
		}
	}
	text := tool.TextOf(texts)
	switch how {
	case "head":
		text = fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d]", head(text, most), total, most)
	case "tail":
		text = fmt.Sprintf("[Truncated: %d chars total, showing last %d]\n%s", total, most, tail(text, most))
	default:
		text = cutMiddle(text, total, most)
	}
	res.Content = slices.Concat([]tool.Content{{Type: tool.TextContent, Text: text}}, others)
	return res
}

func cutMiddle(text string, total, most int) string {
	first := most - most/2
	return fmt.Sprintf("%s\n[Truncated: %d chars total, showing first %d and last %d]\n%s", head(text, first), total, first, most/2, tail(text, most/2))
}

// head and tail are the first and last n characters.

func head(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

func tail(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}
