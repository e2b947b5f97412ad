package leaks

import (
	_ "embed"
	"strings"
	"sync"
)

// words finds out whether one of the words that rules name stands in a text,
// whatever its case. Only then rules have to be tried. It allocates nothing.
type words struct {
	always bool            // every text has to be tried
	first  [1 << 10]uint64 // of the first three bytes of words, hashed
	by     map[uint32][]word
	short  []string // words of two bytes, which are in every sentence
}

// wordList are the words of all rules, one a line; "common" stands before common
// ones. A test compares it with the rules.
//
//go:embed words.txt
var wordList string

// known are the words of the rules before those are loaded: most texts hold none.
//
//nolint:gochecknoglobals // they do not change
var known = sync.OnceValue(func() *words {
	w := new(words)
	for line := range strings.Lines(wordList) {
		text, common := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "common ")
		w.add([]string{text}, common)
	}
	return w
})

// word is one of them, in small letters.
type word struct {
	text string
	// common is for words such as key and token that ordinary texts are full of:
	// they only count with something behind them that can be a value.
	common bool
}

const (
	head = 3

	// What the rules of words with two bytes find has at least so many characters
	// of a token in one piece, with the word in them.
	longToken = 20

	// The rule of common words wants an entropy of more than 3.5 bits a character:
	// with fewer than 12 different ones there is not so much.
	different = 12
)

// shortKnown are the words of which that is so. With others, of a later version,
// every text has to be tried.
const shortKnown = " ey sk s. q~ "

// add takes the words of a rule.
func (w *words) add(all []string, common bool) {
	if len(all) == 0 {
		w.always = true
	}
	if w.by == nil {
		w.by = make(map[uint32][]word)
	}
	for _, text := range all {
		text = strings.ToLower(text)
		if len(text) < head {
			w.short = append(w.short, text)
			w.always = w.always || !strings.Contains(shortKnown, " "+text+" ")
			continue
		}
		key := uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
		h := hash(key)
		w.first[h>>6] |= 1 << (h & 63)
		w.by[key] = append(w.by[key], word{text, common})
	}
}

func hash(key uint32) uint32 { return key * 0x9e3779b1 >> 16 }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// in reports whether rules have to be tried on a text.
func (w *words) in(text string) bool {
	if w.always {
		return true
	}
	var key uint32
	run := 0
	looked := false // for a value behind common words
	for i := range len(text) {
		c := text[i]
		if classes[c]&token == 0 {
			if run >= longToken && w.shortIn(text[i-run:i]) {
				return true
			}
			run = -1
		}
		run++
		key = key<<8&0xffffff | uint32(lower(c))
		h := hash(key)
		if w.first[h>>6]&(1<<(h&63)) == 0 || i < head-1 {
			continue
		}
		from := i - head + 1
		for _, word := range w.by[key] {
			if word.common && looked || len(text)-from < len(word.text) || !equalFold(text[from:from+len(word.text)], word.text) {
				continue
			}
			if !word.common || hasValue(text[from:]) {
				return true
			}
			looked = true
		}
	}
	return run >= longToken && w.shortIn(text[len(text)-run:])
}

// hasValue reports whether a text has a run of characters that is various enough to
// be a value, behind a sign that assigns. There are two kinds of values.
func hasValue(text string) bool { return hasRun(text, plain) || hasRun(text, base64) }

func hasRun(text string, class byte) bool {
	for at := 0; at < len(text); {
		if classes[text[at]]&class == 0 {
			at++
			continue
		}
		start, end := -1, at
		if assigns(text[:at]) {
			start = at
		}
		for end < len(text) && classes[text[end]]&class != 0 {
			if text[end] == '=' && start < 0 {
				start = end
			}
			end++
		}
		if start >= 0 && end-start >= different && various(text[start:end]) {
			return true
		}
		at = end
	}
	return false
}

// assigns reports whether a text ends in a sign that assigns, but for quotes and
// spaces.
func assigns(text string) bool {
	i := len(text) - 1
	for n := 0; i >= 0 && n < 5 && strings.IndexByte("`'\" \t\r\n\f\v\\", text[i]) >= 0; n++ {
		i--
	}
	return i >= 0 && strings.IndexByte("=>:|,", text[i]) >= 0
}

func various(text string) bool {
	var seen [4]uint64
	n := 0
	for i := range len(text) {
		c := text[i]
		if seen[c>>6]&(1<<(c&63)) == 0 {
			seen[c>>6] |= 1 << (c & 63)
			if n++; n == different {
				return true
			}
		}
	}
	return false
}

// Classes of characters.
const (
	token  byte = 1 << iota // of what the rules of short words find
	plain                   // of values
	base64                  // of others
)

//nolint:gochecknoglobals // a table
var classes = func() (t [256]byte) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			t[i] = token | plain | base64
		case strings.IndexByte("_.=-", c) >= 0:
			t[i] = token | plain
		case strings.IndexByte("+/", c) >= 0:
			t[i] = token | base64
		case strings.IndexByte("~\\", c) >= 0:
			t[i] = token
		}
	}
	return t
}()

func (w *words) shortIn(text string) bool {
	for i := range len(text) - 1 {
		for _, word := range w.short {
			if len(word) < 2 || lower(text[i]) == word[0] && lower(text[i+1]) == word[1] {
				return true
			}
		}
	}
	return false
}

func equalFold(text, word string) bool {
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}
