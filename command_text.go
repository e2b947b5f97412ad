package ferrule

import (
	"strings"
	"unicode"
)

// forOperator is what the operator reads of a text that a program wrote: all of
// them pass it, for they may have come from a model. What could do something to a
// terminal, or show a text in another order than it has, is taken out.
func forOperator(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	n := 0
	for i := range text {
		if n++; n > maxSaid {
			text = text[:i] + "…"
			break
		}
	}
	return strings.TrimSpace(text)
}

// programError is why a program gave no answer.
type programError struct {
	text  string
	cause error
}

// failedWith is an error for the operator, with what the program said beside it.
func failedWith(err error, said string) error {
	return &programError{forOperator(err.Error()) + said, err}
}

// Error is what the operator reads.
func (e *programError) Error() string { return e.text }

// Unwrap is the error in its own words.
func (e *programError) Unwrap() error { return e.cause }
