package leaks

import "strings"

// kindOf is the short name of a rule: aws-key for aws-access-token.
func kindOf(id string) string {
	switch id {
	case "aws-access-token":
		return "aws-key"
	case "generic-api-key":
		return "key"
	}
	var parts []string
	for part := range strings.SplitSeq(strings.ToLower(id), "-") {
		switch part {
		case "api", "access", "secret", "":
			continue
		}
		parts = append(parts, part)
	}
	if len(parts) < 2 {
		return clean(id) // such as jwt
	}
	return clean(strings.Join(parts, "-"))
}

// clean keeps what placeholders can hold.
func clean(kind string) string {
	var b strings.Builder
	for i := range len(kind) {
		if c := kind[i]; b.Len() < 40 && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			b.WriteByte(c)
		}
	}
	return b.String()
}
