package tool

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Call is what a model asks for.
type Call struct {
	ID    string // the provider's; perhaps empty or repeated
	Name  string
	Input json.RawMessage // JSON text as received
}

// callJSON is a call as JSON.
type callJSON struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
	Text  string          `json:"text,omitempty"`
	Bytes []byte          `json:"bytes,omitempty"`
}

// MarshalJSON writes the call, whatever its arguments are: what is read back is the
// same, byte for byte. Where input cannot hold them so, because they have blanks or are
// no JSON, they are a string under text, or in base64 under bytes.
func (c Call) MarshalJSON() ([]byte, error) {
	out := callJSON{ID: c.ID, Name: c.Name}
	written, err := json.Marshal(c.Input)
	switch {
	case c.Input == nil:
	case err == nil && bytes.Equal(asReceived(written), c.Input):
		out.Input = c.Input
	case utf8.Valid(c.Input):
		out.Text = string(c.Input)
	default:
		out.Bytes = c.Input
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads it back.
func (c *Call) UnmarshalJSON(text []byte) error {
	var in callJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*c = Call{ID: in.ID, Name: in.Name}
	switch {
	case in.Input != nil:
		var line bytes.Buffer
		if err := json.Compact(&line, in.Input); err != nil { // whoever wrote it may have indented it
			return err
		}
		c.Input = asReceived(line.Bytes())
	case in.Bytes != nil:
		c.Input = in.Bytes
	case in.Text != "":
		c.Input = json.RawMessage(in.Text)
	}
	return nil
}

// asReceived takes back what encoding/json escapes in texts that it did not write.
func asReceived(written []byte) json.RawMessage {
	if !bytes.Contains(written, []byte(`\u`)) {
		return written
	}
	return json.RawMessage(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(written)))
}

// Caller is on whose behalf a call is made. The zero value is the local
// principal, with nobody there. Tenant, Principal and Session together tell one
// session from another; the rest is for tools, rules and records.
type Caller struct {
	Principal string // for whom the session runs; "" is local
	Session   string // one conversation; "": a new one
	Client    string // the program that sent it
	Tenant    string // principals that share nothing with others
	Agent     string // which agent of the session
	Run       string // one request within the session; loops are looked for within one
	// Attended: a person is there to talk to. Only tools that say NeedsUser
	// depend on it: a question goes to the inbox either way, where somebody may
	// answer it later.
	Attended bool
	Prompt   string // what the session was asked to do, where the host said
	// Values are the host's own, for its tools and rules. They must not change
	// once given.
	Values map[string]any
}

// Source is where a tool comes from.
type Source struct {
	Name  string `json:"name"` // "" for the program's own tools; never with __ in it
	Trust Trust  `json:"trust"`
	// Bare: models call its tools by their bare names, whatever others are called;
	// but for a name with __ in it, which could be taken for a tool of another
	// source. Zero: as the runtime says.
	Bare bool `json:"bare,omitempty"`
}

// Trust is how far a source is believed. The zero value is the least.
type Trust uint8

// Trust classes, least first. Below SkillTrusted nothing that a tool claims is
// believed unless the operator says so.
const (
	Inbound Trust = iota // content that reached the session by no tool
	Web
	MCP
	SkillUntrusted
	SkillTrusted
	Own     // the program's own
	BuiltIn // part of Ferrule
)

// Untrusted reports whether content and claims of this class count as written
// by strangers. What is no class is not trusted.
func (t Trust) Untrusted() bool { return t < SkillTrusted || t > BuiltIn }

// String is the word used in configuration, rules and records.
func (t Trust) String() string {
	return word(trustWords(), t)
}

// MarshalText writes the word.
func (t Trust) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the word.
func (t *Trust) UnmarshalText(text []byte) (err error) {
	*t, err = fromWord[Trust](trustWords(), string(text))
	return err
}

func trustWords() []string {
	return []string{"inbound", "web", "mcp", "skill-untrusted", "skill-trusted", "own", "built-in"}
}

// Request is one call on its way: what policy, guard, inbox, journal, hooks and
// events see. It has no function that could run the tool.
type Request struct {
	Caller Caller
	Source Source
	// Tool is not to be changed; nil where the name led to no tool. Its Name has
	// no source in it: a rule that matches Tool.Name matches the tool of that
	// name of every source.
	Tool *Info
	// Name is the tool as models call it, whatever alias was used, with its
	// source in front unless the operator chose otherwise: rules match it.
	// CalledAs is what the model wrote.
	Name, CalledAs string

	ID     string // Ferrule's own, unique
	CallID string // the provider's
	Turn   int    // the session's turns, from 1
	Index  int    // the call's place in its turn, from 0

	Args   Args
	Claims Claims // of this call, as far as they are believed
	// Varies: the claims are those of these arguments; others may have others.
	Varies bool
	Mode   string // of the session; "": it asks. See policy.Mode
	Key    string // names the effect of the call; "": no key; see Tool.Key
}

// Clone copies a request, so that a change of one is none of the other.
func (r *Request) Clone() Request {
	c := *r
	c.Claims, c.Caller.Values = r.Claims.clone(), maps.Clone(r.Caller.Values)
	if r.Tool != nil {
		info := r.Tool.Clone()
		c.Tool = &info
	}
	return c
}

// Facts are what a call is about, in forms that rules can match: never the raw
// text. A list that is nil is not known; one that is empty is known to be empty.
// What is not known fits no rule that allows, and every one that asks or denies.
type Facts struct {
	Paths    []string   // cleaned and absolute, with slashes
	Hosts    []string   // as they will be connected to
	Commands [][]string // each command of a parsed line, word by word, unquoted
	// Confined: what the call runs is isolated, at process or better, has no network
	// but a loopback of its own, and can write only in the workspace.
	Confined bool
}

func (f Facts) clone() Facts {
	f.Paths, f.Hosts, f.Commands = slices.Clone(f.Paths), slices.Clone(f.Hosts), slices.Clone(f.Commands)
	for i, words := range f.Commands {
		f.Commands[i] = slices.Clone(words)
	}
	return f
}
