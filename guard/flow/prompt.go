package flow

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ferrule-dev/ferrule/tool"
)

// prompts are what the host said that the person asked for. Only the newest are
// known: a destination that stood in a forgotten one is asked for.
type prompts struct {
	all []prompt
}

type prompt struct {
	raw    string
	spaced string // small letters, one blank between words
	text   string // in its form
}

const (
	maxPrompts = 32
	maxPrompt  = 32 << 10 // bytes of each
)

// hear takes a prompt in. Prompts are few and come again with each call.
func (p *prompts) hear(raw string) {
	raw = raw[:min(len(raw), maxPrompt)]
	if raw == "" || slices.ContainsFunc(p.all, func(q prompt) bool { return q.raw == raw }) {
		return
	}
	if len(p.all) == maxPrompts {
		p.all = slices.Delete(p.all, 0, 1)
	}
	p.all = append(p.all, prompt{raw, spaced(raw), formOf(raw, false).text})
}

// wrote reports whether a text, in its form, stands in a prompt.
func (p *prompts) wrote(text string) bool {
	return slices.ContainsFunc(p.all, func(q prompt) bool { return strings.Contains(q.text, text) })
}

// said reports whether words stand in a prompt as they are.
func (p *prompts) said(words string) bool {
	words = spaced(words)
	return words != "" && slices.ContainsFunc(p.all, func(q prompt) bool { return wordIn(q.spaced, words) })
}

// named reports whether the person named a destination. An address, a host or
// what else has a dot must stand there in full; another value word by word, if it is
// one that stands for something; a short number behind what it counts, such as
// issue 12. The tool itself is named by who gave every value that it is called with.
func (p *prompts) named(r *tool.Request, d destination, all []leaf) bool {
	switch {
	case len(p.all) == 0:
		return false
	case d.outside:
		return p.namedHost(d.value)
	case d.key == "":
		return p.gave(all)
	case shortNumber(d.value):
		return p.counted(d.value, append(wordsOf(r.Name), wordsOf(d.key)...))
	}
	value := strings.TrimLeft(d.value, "#@")
	if strings.Contains(value, ".") && !strings.ContainsFunc(value, unicode.IsSpace) {
		return p.namedHost(strings.ToLower(value)) // b.example is not named by a@b.example
	}
	return p.meant(value) && p.said(value)
}

// minNamed is how many bytes of a word name something by themselves: shorter ones
// stand in most prompts.
const minNamed = 4

// meant reports whether a value that a prompt holds can name something there: a
// short word must be marked as a name, by a sign, quotes or a capital letter.
func (p *prompts) meant(value string) bool {
	value = strings.TrimSpace(value)
	if len(value) < 2 || common(value) {
		return false
	}
	if len(value) >= minNamed {
		return true
	}
	return slices.ContainsFunc(p.all, func(q prompt) bool {
		for _, mark := range []string{"#", "@", `"`, "'", "`", "“", "‘"} {
			if strings.Contains(q.spaced, mark+strings.ToLower(value)) {
				return true
			}
		}
		return value != strings.ToLower(value) && wordIn(q.raw, value)
	})
}

// common words are in prompts for other reasons than to name something.
func common(w string) bool {
	switch strings.ToLower(w) {
	case "a", "an", "and", "all", "any", "are", "as", "at", "be", "but", "by", "can", "do", "for", "from", "get", "has", "have", "he", "her", "here",
		"him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "let", "me", "my", "new", "no", "not", "now", "of", "on", "one", "or", "our", "out",
		"she", "so", "some", "that", "the", "them", "then", "there", "they", "this", "to", "up", "us", "was", "we", "what", "when", "where",
		"which", "who", "will", "with", "yes", "you", "your", "please", "about", "look", "tell", "send", "make", "find", "read", "show", "give":
		return true
	}
	return false
}

// gave reports whether every value stands in a prompt. Days, times and numbers are
// written in many ways and carry little; they alone name nothing.
func (p *prompts) gave(all []leaf) bool {
	some := false
	for _, l := range all {
		if l.number || isDate(l.value) {
			continue
		}
		if !p.said(l.value) {
			return false
		}
		some = some || p.meant(l.value)
	}
	return some
}

// namedHost looks for an address between the borders of addresses: evil.com is
// not named by who names not-evil.com or evil.com.au.
func (p *prompts) namedHost(host string) bool {
	bare := strings.TrimPrefix(host, "www.")
	return bare != "" && slices.ContainsFunc(p.all, func(q prompt) bool {
		for from := 0; ; {
			i := strings.Index(q.spaced[from:], bare)
			if i < 0 {
				return false
			}
			i += from
			before := strings.TrimSuffix(q.spaced[:i], "www.")
			after := q.spaced[i+len(bare):]
			if !endsInAddress(before) && !goesOn(after) {
				return true
			}
			from = i + 1
		}
	})
}

// endsInAddress reports whether what stands before a host belongs to it.
func endsInAddress(s string) bool {
	return s != "" && (wordByte(s[len(s)-1]) || strings.IndexByte(".-@%+", s[len(s)-1]) >= 0)
}

// goesOn reports whether a host goes on: a full stop ends a sentence, unless a
// letter follows.
func goesOn(s string) bool {
	if s == "" {
		return false
	}
	if (s[0] == '.' || s[0] == '-' || s[0] == '@') && len(s) > 1 {
		return wordByte(s[1])
	}
	return wordByte(s[0])
}

// shortNumber reports whether a value is so short a number that it stands in many
// prompts as something else.
func shortNumber(s string) bool {
	return len(s) < 4 && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// counted looks for a number right behind one of some words.
func (p *prompts) counted(number string, words []string) bool {
	return slices.ContainsFunc(p.all, func(q prompt) bool {
		said := strings.FieldsFunc(q.spaced, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for i := 1; i < len(said); i++ {
			if said[i] == number && slices.Contains(words, said[i-1]) {
				return true
			}
		}
		return false
	})
}

func spaced(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
