package search

import "bytes"

// stem cuts a word to what its forms have in common: creates, created and creating
// are one. It works in place, knows English only, and need not give a word, only
// the same for forms that mean the same. Endings that make other words of a word
// (creation, creator) stay: cutting them lost more than it found.
func stem(w []byte) []byte {
	if len(w) < 4 || w[0] < 'a' || w[0] > 'z' {
		return w
	}
	w = cutVerb(cutPlural(w))
	if n := len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	return w
}

func cutPlural(w []byte) []byte {
	n := len(w)
	if n < 4 || w[n-1] != 's' {
		return w
	}
	switch {
	case n > 4 && has(w, "ies"):
		w[n-3] = 'y'
		return w[:n-2]
	case has(w, "sses"), n > 4 && (has(w, "xes") || has(w, "ches") || has(w, "shes")):
		return w[:n-2]
	case has(w, "ss"), has(w, "us"), has(w, "is"):
		return w
	}
	return w[:n-1]
}

// cutVerb cuts ed and ing where a vowel is left.
func cutVerb(w []byte) []byte {
	n := len(w)
	switch {
	case has(w, "ing"):
		n -= 3
	case has(w, "ed") && !has(w, "eed"):
		n -= 2
	default:
		return w
	}
	if n < 3 || !bytes.ContainsAny(w[:n], "aeiouy") {
		return w
	}
	w = w[:n]
	if c := w[n-1]; n > 3 && c == w[n-2] && !vowel(c) && c != 'l' && c != 's' && c != 'z' {
		w = w[:n-1] // planned: plan
	}
	return w
}

func has(w []byte, end string) bool {
	return len(w) >= len(end) && string(w[len(w)-len(end):]) == end
}

func vowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' }
