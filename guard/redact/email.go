package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLocal  = 64
	maxDomain = 253
)

// emailAt finds the address around an @. What is before from belongs to others.
func emailAt(text string, at, from int) (Span, bool) {
	start := at
	for start > from && at-start < maxLocal {
		r, n := utf8.DecodeLastRuneInString(text[from:start])
		if !localRune(r) {
			break
		}
		start -= n
	}
	for start < at && (text[start] == '.' || text[start] == '\'' || text[start] == '-') {
		start++
	}
	if start == at || text[at-1] == '.' {
		return Span{}, false
	}
	end := at + 1
	for end < len(text) && end-at <= maxDomain {
		c := text[end]
		if c == '.' && (text[end-1] == '.' || text[end-1] == '@') || c != '.' && c != '-' && !isLetter(c) && !isDigit(c) {
			break
		}
		end++
	}
	for end > at+1 && (text[end-1] == '.' || text[end-1] == '-') {
		end--
	}
	dot := strings.LastIndexByte(text[at+1:end], '.')
	if dot < 1 || !isTop(text[at+1+dot+1:end]) {
		return Span{}, false
	}
	// git@host:path and ssh://git@host/path name a place, not a person.
	if strings.HasSuffix(text[:start], "://") || end+1 < len(text) && text[end] == ':' && (isWord(text[end+1]) || text[end+1] == '/' || text[end+1] == '~') {
		return Span{}, false
	}
	return Span{start, end, "email"}, true
}

// localRune is a character of the part before the @. Slashes are allowed there by
// the letter of the law, and in practice never.
func localRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWord(byte(r)) || //nolint:gosec // it is less than 128
			strings.ContainsRune(".+-%'!#$&*^~", r)
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isTop reports whether a label can be the last of a domain: it is none of the
// endings of files, such as logo@2x.png has.
func isTop(label string) bool {
	if len(label) < 2 || len(label) > 24 {
		return false
	}
	if strings.HasPrefix(label, "xn--") {
		return true
	}
	for i := range len(label) {
		if !isLetter(label[i]) {
			return false
		}
	}
	for _, ending := range []string{"png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "mjs", "ts", "json", "html", "pdf", "tgz", "zip", "gz"} {
		if len(label) == len(ending) && lowerIs(label, ending) {
			return false
		}
	}
	return true
}
