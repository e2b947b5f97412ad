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
	return word(verdictWords(), v)
}

// MarshalText writes the word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word.
func (v *Verdict) UnmarshalText(text []byte) (err error) {
	*v, err = fromWord[Verdict](verdictWords(), string(text))
	return err
}

func verdictWords() []string { return []string{"deny", "ask", "allow", "silent"} }

// Decision is a verdict and why.
type Decision struct {
	Verdict Verdict
	// Reason is for the person who is asked, or the operator who reads the
	// record; Rule names what said so.
	Reason, Rule string
	// Message is for the model when the call does not run; "": Reason.
	Message string
	// Override lets a person overrule a deny: where there is one, it is an ask.
	Override bool
	// Exact: what allows the call names this tool, and does not merely fit it with
	// a pattern, a source or a tag. Nothing else allows a tool that is Info.New.
	Exact bool
}
