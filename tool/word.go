package tool

import (
	"fmt"
	"strings"
)

// word is the name of a member of a closed set. What is not in the set has the
// name of the first member, which is the strictest.
func word[T ~uint8](words []string, v T) string {
	if int(v) >= len(words) {
		v = 0
	}
	return words[v]
}

// fromWord is the member with that name; the error goes with the strictest.
func fromWord[T ~uint8](words []string, name string) (T, error) {
	for i, w := range words {
		if w == name {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("got %q, want one of %s", name, strings.Join(words, ", "))
}
