package flow

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fingerprints find parts of minRun bytes and more, and a name, a code or a sum says
// all there is to say in far less. So the words of an argument are looked for as
// well, in private results, and in strangers' where the call is told to reach
// outside: there each text is gone through, which is bounded.
const (
	minPart = 12 // bytes of words, but for ordinary ones, that are a copy
	minName = 8  // bytes of one word that is written like a name or a code

	maxLooks = 8 << 20  // parts of one call that are looked for in a sieve
	maxScan  = 64 << 20 // bytes of results that are gone through for one call
	ownScan  = 4 << 10  // bytes that a look at the prompts counts for
)

// phrase is where words stand in an argument, in its form.
type phrase struct {
	start, end int
	name       string // a word that counts only if it is written like a name where it came from
}

// parts looks for short runs of words. The hits say where they stand in text, which
// is the form of plain.
func (m *matcher) parts(plain, text string) []hit {
	if !slices.ContainsFunc(m.items, m.closely) {
		return nil
	}
	all := partsOf(plain)
	var hits []hit
	for _, n := range slices.Backward(m.items) {
		if !m.closely(n) {
			continue
		}
		next := 0
		for _, p := range all {
			if p.start < next {
				continue
			}
			if m.hits[n] >= maxHits {
				break
			}
			if m.looks++; m.looks > maxLooks || m.scanned > maxScan {
				m.over = true
				return hits
			}
			value := text[p.start:p.end]
			if !n.may(value) {
				continue
			}
			m.scanned += len(n.text)
			at := strings.Index(n.text, value)
			if at < 0 || p.name != "" && !nameIn(n.original, p.name) {
				continue
			}
			if m.scanned += ownScan; m.own(value) {
				continue
			}
			from, to := shared(text, n.text, p.start, at)
			next = to
			if !slices.ContainsFunc(hits, func(o hit) bool { return o.start == from && o.from.like(n) }) && m.counts(n) {
				hits = append(hits, hit{from: n, how: Substring, start: from, end: to})
			}
		}
	}
	return hits
}

// closely reports whether short parts of a result are looked for.
func (m *matcher) closely(n *item) bool {
	return n.text != "" && (n.sensitive || m.told && n.untrusted)
}

// spoken is a word of a text, and where it stands in the form of that.
type spoken struct {
	text       string
	start, end int
	opens      bool // a sentence begins with it
}

// partsOf are the shortest runs of words that are a copy where a result holds them:
// one that is written like a name or a code, else two and more with minPart bytes in
// those that are not ordinary. A word in small letters may be a name where it came
// from.
func partsOf(plain string) []phrase {
	words := spokenIn(plain)
	var all []phrase
	for i, w := range words {
		if ordinary(w.text) {
			continue // the part begins behind it
		}
		if w.end-w.start >= minName {
			if likeName(w.text, w.opens) {
				all = append(all, phrase{w.start, w.end, ""})
				continue
			}
			all = append(all, phrase{w.start, w.end, strings.ToLower(w.text)})
		}
		size, many := 0, 0
		for _, o := range words[i:min(len(words), i+2*minPart)] {
			if !ordinary(o.text) {
				size += o.end - o.start
				many++
			}
			if size >= minPart && many > 1 {
				all = append(all, phrase{w.start, o.end, ""})
				break
			}
		}
	}
	return all
}

// spokenIn are the words of a text: letters and digits, and what joins them.
func spokenIn(plain string) []spoken {
	var all []spoken
	at, opens := 0, true
	for i := 0; i < len(plain); {
		size := 0
		for i+size < len(plain) {
			r, n := utf8.DecodeRuneInString(plain[i+size:])
			if foldRune(r) < 0 && (size == 0 || !strings.ContainsRune("-_'", r)) {
				break
			}
			size += n
		}
		if size == 0 {
			r, n := utf8.DecodeRuneInString(plain[i:])
			opens = opens || strings.ContainsRune(".:!?\n\r\"“([*#>", r)
			i += n
			continue
		}
		word := plain[i : i+size]
		end := at + len(fold(word, nil).text)
		all = append(all, spoken{word, at, end, opens})
		at, opens = end, false
		i += size
	}
	return all
}

// likeName reports whether a word is written as names and codes are: with a digit,
// a capital letter within it, or one at its beginning that no sentence begins with.
func likeName(word string, opens bool) bool {
	for i, r := range word {
		if unicode.IsDigit(r) || unicode.IsUpper(r) && (i > 0 || !opens) || r == '_' {
			return true
		}
	}
	return false
}

// nameIn reports whether a word in small letters is written like a name in a text: in
// capitals, or with one within a sentence.
func nameIn(text, word string) bool {
	if wordIn(text, strings.ToUpper(word)) {
		return true
	}
	r, size := utf8.DecodeRuneInString(word)
	capital := string(unicode.ToUpper(r)) + word[size:]
	for from := 0; ; {
		i := strings.Index(text[from:], capital)
		if i < 0 {
			return false
		}
		i += from
		if before := strings.TrimRight(text[:i], " "); len(before) < i && before != "" && (wordByte(before[len(before)-1]) || before[len(before)-1] == ',') {
			return true
		}
		from = i + 1
	}
}

// ordinary words stand in most texts.
func ordinary(w string) bool {
	if common(w) {
		return true
	}
	switch strings.ToLower(w) {
	case "again", "also", "back", "because", "been", "before", "being", "below", "best", "both", "could", "day", "days", "dear", "does", "done", "down",
		"each", "every", "following", "had", "hello", "hi", "just", "know", "like", "may", "more", "most", "much", "must", "need", "next", "only",
		"other", "over", "per", "regards", "same", "see", "should", "since", "still", "such", "take", "than", "thank", "thanks", "their", "these",
		"thing", "those", "time", "today", "tomorrow", "too", "under", "until", "very", "want", "were", "while", "would", "yesterday",
		"january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday":
		return true
	}
	return false
}
