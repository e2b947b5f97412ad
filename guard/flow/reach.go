package flow

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrule-dev/ferrule/tool"
)

// reach is how far a call goes, as far as anybody knows.
type reach uint8

const (
	stays   reach = iota // on this machine: somebody who is believed says so
	assumed              // nobody says so
	told                 // outside: the operator, its author or its claims have it so
)

// reach is told where the operator labels a tool, or where it is of a source that is
// trusted, or believed to act: who made it could have said that it is local. Of a
// stranger's tool that claims nothing, or only that it reads, nothing is known but
// that it may: most of them work on files, a repository or a database here. What
// may leave with it is then judged by what it is: see [copied.carries].
func (f *Rules) reach(r *tool.Request) reach {
	label := f.label(r)
	switch {
	case !f.Has(r, External):
		return stays
	case !r.Source.Trust.Untrusted(), label.To != nil, slices.Contains(label.Is, External):
		return told
	case r.Claims.ReadOnly, r.Claims.Class() == new(tool.Claims).Class():
		return assumed
	}
	return told
}

// somewhere reports whether the call has a destination beside the tool itself.
func (j *judgement) somewhere() bool { return slices.ContainsFunc(j.to, leadsAway) }

// places are where data goes that leaves with the call. Short arguments are that
// only where the tool is told to reach outside: else all go to the tool.
func (j *judgement) places() []destination {
	if j.far == told || j.somewhere() {
		return j.to
	}
	return []destination{{value: j.r.Name}}
}

// leadsAway: a destination by its form or by its name. A path is a place here.
func leadsAway(d destination) bool { return d.outside || !d.guess && !path(d.value) && d.key != "" }

// chosen reports whether a destination that stands in a result was chosen by who
// wrote that: an address outside always, also by the server that is called. A name or
// a number that means something at that server alone was not where the server
// itself gave it, nor was a link in content that is on its way back there.
func (j *judgement) chosen(d destination, by *item, content bool) bool {
	own := by.source != "" && by.source == j.r.Source.Name
	switch {
	case content && own && j.far == assumed && !j.somewhere():
		return false
	case d.outside:
		return true
	case j.far == told:
		return !own || !d.guess || !path(d.value) // an argument that nobody calls a destination
	case !leadsAway(d):
		return false
	case account(d.value) && word(d.key, partyWords):
		return true
	}
	return (len(d.value) >= minExact || word(d.key, peopleWords)) && (!own || !j.given(d.value))
}

// given reports whether the server that is called has given a name: it stands by
// itself in a result, as the entry of a list, a line or the value of a field. What
// stands only within a sentence was written by somebody.
func (j *judgement) given(name string) bool {
	return slices.ContainsFunc(j.found.items, func(n *item) bool {
		if n.source != j.r.Source.Name {
			return false
		}
		for from := 0; ; {
			i := strings.Index(n.original[from:], name)
			if i < 0 {
				return false
			}
			i += from
			before := strings.TrimRight(n.original[max(0, i-16):i], " ")
			behind := strings.TrimLeft(n.original[i+len(name):min(len(n.original), i+len(name)+16)], " ")
			if (before == "" || strings.ContainsAny(before[len(before)-1:], "\n\t\"'[{(|>:=,#@*-")) &&
				(behind == "" || strings.ContainsAny(behind[:1], "\n\r\t\"']}|<,;:(")) {
				return true
			}
			from = i + 1
		}
	})
}

// carries reports whether what was copied is content, or leads outside, whatever
// tool gets it: text of some length, an address, the number of an account, a key.
// A word, a path and a short id are what tools of one machine have in common.
func (c *copied) carries() bool {
	part := c.value[c.start:min(c.end, len(c.value))]
	return c.coded || standsOut(part) || len(part) >= minRun && !path(part) && !path(c.value)
}

// mayCarry is the same of the arguments of a call, where nobody knows what was
// copied.
func (j *judgement) mayCarry(private bool) bool {
	if j.far == told || j.somewhere() {
		return true
	}
	return slices.ContainsFunc(j.all, func(l leaf) bool {
		return private && len(l.value) >= minExact || len(l.value) >= minRun && !path(l.value) || len(encoded(l.value, false)) > 0 ||
			standsOut(l.value) || slices.ContainsFunc(strings.FieldsFunc(l.value, unicode.IsSpace), standsOut)
	})
}

// standsOut reports whether a text, be it short, is made to be copied.
func standsOut(s string) bool {
	if len(s) < minExact {
		return false
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return address(s) != "" || host(s) || account(s) || key(s)
}

// path reports whether a value names a file here. What may be a host is none:
// //host/x, \\host\x, host.example/x, host:x; nor is text behind a /.
func path(s string) bool {
	if len(s) > maxPath || strings.HasPrefix(s, "//") || strings.HasPrefix(s, `\\`) || strings.Contains(s, "://") || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	if len(strings.Fields(s)) > maxPathWords || slices.ContainsFunc(parts, func(p string) bool { return len(p) > maxPathPart }) {
		return false
	}
	if strings.ContainsAny(s[:min(len(s), 1)], "/~.") || len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') {
		return strings.ContainsAny(s, `/\`)
	}
	return len(parts) > 1 && strings.Trim(parts[0], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && !strings.ContainsFunc(s, unicode.IsSpace)
}

// What a path has at most: bytes, bytes between separators, and words.
const (
	maxPath      = 1 << 10
	maxPathPart  = 64
	maxPathWords = 4
)

// host reports whether a value begins with a host, by the end of that. Many of those
// are endings of files as well; these are not.
func host(s string) bool {
	if end := strings.IndexAny(s, "/:?#"); end >= 0 {
		s = s[:end]
	}
	i := strings.LastIndexByte(s, '.')
	if i <= 0 || strings.ContainsFunc(s, unicode.IsSpace) {
		return false
	}
	switch strings.ToLower(s[i+1:]) {
	case "com", "org", "net", "edu", "gov", "io", "info", "biz", "dev", "app", "xyz", "top", "site", "online", "cloud", "example", "onion":
		return true
	}
	return false
}

// account reports whether a value reads like the number of an account, a card or a
// telephone: digits, few letters, and what parts them.
func account(s string) bool {
	digits, letters := 0, 0
	for _, r := range s {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			letters++
		case strings.ContainsRune(" -.+()", r):
		default:
			return false
		}
	}
	return digits >= 8 && letters <= digits && len(s) <= 42 && !isDate(s)
}

// key reports whether a value reads like a key: one word of small and capital
// letters or digits that nobody would write.
func key(s string) bool {
	const capitals, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	return len(s) >= 16 && strings.ContainsAny(s, capitals) && strings.ContainsAny(s, digits) &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_-+="+capitals+digits) == ""
}

// partyWords are names of arguments for who gets something: the number of an account
// counts there.
func partyWords(w string) bool {
	switch w {
	case "to", "recipient", "receiver", "cc", "bcc", "addressee", "account", "iban", "bic", "payee", "beneficiary", "phone", "mobile",
		"contact", "wallet", "merchant", "vendor", "supplier", "destination", "target":
		return true
	}
	return false
}

// peopleWords are those of them that say nothing else, so that a short name counts.
func peopleWords(w string) bool {
	switch w {
	case "recipient", "receiver", "cc", "bcc", "addressee", "payee", "beneficiary", "invitee", "attendee", "participant", "collaborator":
		return true
	}
	return false
}
