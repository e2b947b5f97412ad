package shell

// Scopes are rules that cover the line, narrowest first: what stands within the
// parentheses of a short rule, such as go test ./... and go test*. None is
// offered for programs that run other programs, beyond the very line.
func Scopes(line string) []string { return nil }
