package tool

// Verdict is what one voice says about a call. The zero value denies, and of
// several verdicts the least wins: deny beats ask beats allow beats silence.
type Verdict uint8

// The verdicts, strictest first.
const (
	Deny Verdict = iota
	Ask
	Allow
	Silent
)

// String is the word used in rules and records.
func (v Verdict) String() string {
	words := [...]string{"deny", "ask", "allow", "silent"}
	if int(v) >= len(words) {
		v = Deny
	}
	return words[v]
}

// Decision is a verdict and why.
type Decision struct {
	Verdict Verdict
	// Reason is for the person who is asked, or the operator who reads the
	// record.
	Reason string
	// Override lets a person overrule a deny: where there is one, it is an ask.
	Override bool
}
