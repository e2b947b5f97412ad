package secret

import "strings"

// maxHeld is how many bytes a stream holds back at most. No value of ordinary size
// needs as many in any form.
const maxHeld = 1 << 20

// Stream is [Vault.Scrub] for a text that comes in pieces: a value that is split
// between them is found, too. It holds back only what may be the beginning of a
// value. The zero value passes on everything; [Vault.Stream] makes one that does
// not. It is not safe for concurrent use.
type Stream struct {
	vault   *Vault
	held    string
	waiting string // comes behind held, and was not looked at
	covered int    // bytes of held that a mark stands for already
	found   []string
}

// Stream makes a stream. Values that are given out while it is used count from
// the next piece on.
func (v *Vault) Stream() *Stream { return &Stream{vault: v} }

// Write takes a piece and gives what can be passed on by now.
func (t *Stream) Write(piece string) string {
	const much = 4 << 10 // so that a long beginning is not looked at again for each small piece
	if t.waiting += piece; len(t.held) > much && len(t.waiting) < len(t.held)/2 {
		return ""
	}
	piece, t.waiting = t.waiting, ""
	out := t.pass(piece, false)
	if len(t.held) > maxHeld {
		out += t.pass("", true)
	}
	return out
}

// Flush gives what was held back, at the end.
func (t *Stream) Flush() string {
	piece := t.waiting
	t.waiting = ""
	return t.pass(piece, true)
}

// Found are the names of the secrets that were taken out so far.
func (t *Stream) Found() []string { return t.found }

func (t *Stream) pass(piece string, final bool) string {
	text := t.held + piece
	if !t.vault.Live() || text == "" {
		return text // then nothing is held
	}
	s := t.vault.shared.scan.Load()
	spans, hold := s.scan(text, final)
	if len(spans) == 0 && t.covered == 0 && hold == len(text) {
		t.held = ""
		return text
	}
	t.found = named(t.found, spans)
	if t.covered > 0 {
		spans = append(spans, span{0, t.covered, ""})
	}
	var b strings.Builder
	at := t.covered
	for _, sp := range sorted(spans) {
		if sp.start >= hold {
			break
		}
		if sp.start > 0 || t.covered == 0 { // else its mark was passed on before
			b.WriteString(text[at:sp.start])
			b.WriteString(s.marks[sp.name])
		}
		at = sp.end
	}
	if at < hold {
		b.WriteString(text[at:hold])
		at = hold
	}
	t.held, t.covered = strings.Clone(text[hold:]), at-hold
	return b.String()
}
