package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// kindName is the JSON type of a value with its article.
func kindName(v *value) string {
	switch v.kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '0':
		return "a number"
	case '"':
		return "a string"
	case '[':
		return "an array"
	}
	return "an object"
}

// shown is a value as a violation shows it: short, and with its type where
// the text alone could be misread.
func shown(v *value) string {
	if v == nil {
		return "nothing"
	}
	switch v.kind {
	case '"':
		return "string " + string(quote(clip(v.text, 60)))
	case '0':
		return "number " + clip(v.text, 60)
	case '[':
		return "array of " + counted(len(v.items), "item")
	case '{':
		return "object with " + counted(len(v.members), "member")
	case 't', 'f':
		return "boolean " + string(v.json())
	}
	return "null"
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

const (
	maxNames = 50  // listed in one sentence
	maxText  = 400 // characters of a schema or pattern in one
)

// names quotes a list of names.
func names(list []string) string {
	said := apply(list[:min(len(list), maxNames)], func(s string) string { return string(quote(clip(s, 60))) })
	if len(list) > maxNames {
		said = append(said, fmt.Sprintf("… (%d in all)", len(list)))
	}
	return strings.Join(said, ", ")
}

// show writes a value of a schema, such as a listed constant.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return clip(string(b), 200)
}

func oneOf(list []any) string {
	shown := apply(list[:min(len(list), maxNames)], show)
	if len(list) > maxNames {
		shown = append(shown, fmt.Sprintf("… (%d in all)", len(list)))
	}
	if len(shown) == 1 {
		return shown[0]
	}
	return "one of " + strings.Join(shown, ", ")
}

// nearest is the name that a wrong one was probably meant to be; "" when none
// is near.
func nearest(wrong string, list []string) string {
	best, least := "", min(len(wrong)/2, 3)+1
	for _, name := range list {
		if strings.EqualFold(name, wrong) {
			return name
		}
		if d := distance(strings.ToLower(wrong), strings.ToLower(name), least); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the single-byte edits between a and b; most means that or
// more.
func distance(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most || len(a) > 128 {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least >= most {
			return most
		}
	}
	return row[len(b)]
}
