package scan

import "slices"

// Family is what a rule looks for.
type Family string

// The families. Those from Poisoning on are for definitions of tools only.
const (
	Override   Family = "override"   // turns instructions off, or gives new ones
	Role       Family = "role"       // markup of chat templates, turns that nobody took
	ToolCall   Family = "tool-call"  // markup of calls, and orders to make them
	Exfil      Family = "exfil"      // links, images and commands that carry data away
	Hidden     Family = "hidden"     // what a person does not see
	Secrecy    Family = "secrecy"    // asks to keep something from the user
	Authority  Family = "authority"  // claims to speak for who may command
	Encoded    Family = "encoded"    // asks to decode and obey
	Persona    Family = "persona"    // another self without rules
	Unfinished Family = "unfinished" // the scan could not finish
	Own        Family = "own"        // rules of the operator that name no family
	Poisoning  Family = "poisoning"  // a description that commands, or a tool that says it does harm
	Shadowing  Family = "shadowing"  // a description that changes another tool
	Parameter  Family = "parameter"  // parameters that carry away what the tool does not need
)

// Finding is one place in a text. Offsets are of the original bytes, and
// Start < End always holds but for a finding of the family Unfinished.
type Finding struct {
	Rule       string
	Family     Family
	Start, End int
	// Encoding says what had to be decoded to find it: "" or base64, hex,
	// binary, spaced (letters that stand apart).
	Encoding string
}

// noRules is the rule of what the zero Scanner finds.
const noRules = "no rules"

// Finished reports whether a scan read all of its text. What it could not
// finish (bounds on what hostile text may cost were reached) is a finding of
// the family Unfinished, over the part in question: who fails closed refuses on
// any finding, and who does not still sees that there may be more.
func Finished(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return f.Family == Unfinished })
}
