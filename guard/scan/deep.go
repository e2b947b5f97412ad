package scan

import (
	"encoding/binary"
	"unicode/utf8"
)

// The words of rules are looked for in the text as it is, as long as
// normalising it could bring no such word to light. deep tells that it could;
// then the whole window is normalised first.

// deepWords begin what normalising may turn into letters. A rule's word holds
// no white space, quote, dash or other character that normalising makes of
// anything not listed here or met in deepBytes.
func deepWords() []string {
	return []string{
		"&#", "&lt;", "&gt;", "&shy;", "&zwnj;", "&zwj;", "&lrm;", "&rlm;", `\u`, `\x`, `\/`,
		"%2", "%3", "%4", "%5", "%6", "%7", "%c", "%d", "%e", "%f",
		"<!--", "<b", "</b", "<i", "</i", "<u", "</u", "<em", "</em", "<strong", "</strong", "<span", "</span",
		"<font", "</font", "<wbr", "<mark", "</mark", "<small", "</small", "<s", "</s", "00100000", " 20 ",
	}
}

// deepAt reports whether what ends with a deep word at text[:end] is what it
// seems to be.
func deepAt(text []byte, word string, end int) bool {
	at := end - len(word)
	switch word[0] {
	case '&', '\\', '%':
		r, size := escaped(text[at:])
		return size > 0 && !inert(r)
	case '<':
		if at > 0 && text[at-1] == '>' { // markup after markup is one
			return true
		}
		return insideWord(text, at) > 0
	case '0':
		return true
	default: // pairs of digits
		return at >= 2 && digit(text[at-1]) >= 0 && digit(text[at-2]) >= 0 && end+1 < len(text) && digit(text[end]) >= 0 && digit(text[end+1]) >= 0
	}
}

// inert: normalising makes no part of a word of it.
func inert(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == ' ' || '\t' <= r && r <= '\r' || r == '"' || r == '\'' || r == '&' || r == '%' || r == '-' || r == '.' || r == ',' || r == ';' || r == '+' || r == '='
	case 0xa0 <= r && r <= 0xa7, r == 0xa9, r == 0xab, r == 0xac, r == 0xb0, r == 0xb1, r == 0xb7, r == 0xbb, r == 0xd7:
		return true
	case 0x2010 <= r && r <= 0x2027 && r != 0x2024, 0x2030 <= r && r <= 0x2046 && r != 0x203c, 0x2190 <= r && r <= 0x22ff, 0x2500 <= r && r <= 0x27bf:
		return true
	case 0x1f300 <= r && r <= 0x1faff:
		return true
	default:
		return false
	}
}

// deepBytes looks for characters and long runs that have to be normalised.
func deepBytes(text []byte) bool {
	for i := 0; i < len(text); {
		if i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 == 0 {
			i += 8
			continue
		}
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !inert(r) {
			return true
		}
		i += size
	}
	// A run of n has a byte at a multiple of n.
	for i := shortBase64 - 1; i < len(text); i += shortBase64 {
		if !base64Byte[text[i]] {
			continue
		}
		lo := i
		for lo > 0 && base64Byte[text[lo-1]] {
			lo--
		}
		hi := i + 1
		for hi < len(text) && base64Byte[text[hi]] {
			hi++
		}
		if hi-lo >= shortBase64 && (readableStart(text[lo:hi]) || hi-lo >= shortHex && readableHex(text[lo:lo+16])) {
			return true
		}
		i = max(i, hi-shortBase64)
	}
	return false
}
