package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// group mends an object or an array from its opening bracket to its end.
func (r *repairer) group(depth int) error {
	open := r.text[r.pos]
	shut := map[byte]byte{'{': '}', '[': ']'}[open]
	r.out = append(r.out, open)
	r.pos++
	for first := true; ; first = false {
		done, err := r.separator(shut, first)
		if err != nil || done {
			return err
		}
		if open == '{' {
			if err := r.key(); err != nil {
				return err
			}
		}
		if err := r.value(depth + 1); err != nil {
			return err
		}
	}
}

// separator steps to the next member, or over the end of the group. A comma is
// written only when a member follows it.
func (r *repairer) separator(shut byte, first bool) (done bool, err error) {
	at := len(r.out)
	line, err := r.space()
	if err != nil {
		return false, err
	}
	comma := !first && r.peek() == ','
	if comma {
		at = len(r.out)
		r.pos++
		if _, err = r.space(); err != nil {
			return false, err
		}
	}
	c := r.peek()
	if r.pos < r.end && c != '}' && c != ']' {
		switch {
		case first:
			return false, nil
		case !comma && !line:
			return false, r.fail("got %q, want a comma or %q", r.rune(), shut)
		case !comma:
			r.change("added a missing comma")
		}
		r.out = slices.Insert(r.out, at, ',')
		return false, nil
	}
	if comma && r.pos == len(r.text) {
		return false, r.cutOff("behind a comma")
	}
	if comma {
		r.change("removed a trailing comma")
	}
	switch {
	case c == shut && r.pos < r.end:
		r.pos++
	case strings.Trim(r.text[r.pos:min(r.end, r.pos+2*maxRepairDepth)], "}] \t\r\n") == "":
		// Nothing but closing brackets follows, if anything: this one was
		// forgotten.
		r.change("closed what was left open at the end")
	default:
		return false, r.fail("got %q, want %q", c, shut)
	}
	r.out = append(r.out, shut)
	return true, nil
}

// key mends the name of a member and its colon.
func (r *repairer) key() error {
	switch c := r.peek(); {
	case c == '"' || c == '\'':
		if err := r.string(); err != nil {
			return err
		}
	case r.pos < r.end && isLetter(c):
		r.out = append(r.out, quote(r.word())...)
		r.change("put a key in quotes")
	default:
		return r.fail("got %q, want a key", r.rune())
	}
	if _, err := r.space(); err != nil {
		return err
	}
	if r.pos >= r.end || r.peek() != ':' {
		return r.fail("want a colon after the key")
	}
	r.pos++
	r.out = append(r.out, ':')
	_, err := r.space()
	return err
}

// string mends a string.
func (r *repairer) string() error {
	mark := r.text[r.pos]
	if mark == '\'' {
		r.change("wrote single quotes as double quotes")
	}
	r.pos++
	r.out = append(r.out, '"')
	stray, letters := false, false
	for r.pos < r.end {
		switch c := r.text[r.pos]; {
		case c == mark:
			if stray && letters {
				// In C:\Users\new, \U is no escape, and \n was not meant as one.
				return r.fail("a string in which some backslashes are escapes and others are not; write each as \\\\")
			}
			r.pos++
			r.out = append(r.out, '"')
			return nil
		case c == '\\':
			letters = letters || r.pos+1 < r.end && strings.IndexByte("bfnrt", r.text[r.pos+1]) >= 0
			stray = r.escape() || stray
		case c == '"':
			r.out = append(r.out, `\"`...)
			r.pos++
		case c < 0x20:
			r.out = fmt.Appendf(r.out, `\u%04x`, c)
			r.pos++
			r.change("escaped a control character in a string")
		default:
			r.out = append(r.out, c)
			r.pos++
		}
	}
	return r.cutOff("within a string")
}

// escape mends one escape sequence; stray is whether it was only a backslash.
func (r *repairer) escape() (stray bool) {
	rest := r.text[r.pos+1 : r.end]
	hex := func(n int) bool {
		if len(rest) < n+1 {
			return false
		}
		_, err := strconv.ParseUint(rest[1:n+1], 16, 32)
		return err == nil
	}
	switch {
	case rest == "":
		r.pos++ // the text ends here
	case strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0:
		r.out = append(r.out, r.text[r.pos:r.pos+2]...)
		r.pos += 2
	case rest[0] == 'u' && hex(4):
		r.out = append(r.out, r.text[r.pos:r.pos+6]...)
		r.pos += 6
	case rest[0] == 'x' && hex(2):
		r.out = append(r.out, `\u00`+rest[1:3]...)
		r.pos += 4
		r.change("wrote \\x as \\u")
	case rest[0] == '\'':
		r.out = append(r.out, '\'')
		r.pos += 2
		r.change("removed a wrong escape")
	default:
		r.out = append(r.out, `\\`...)
		r.pos++
		r.change("escaped a backslash")
		return true
	}
	return false
}
