package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/tool"
)

// Encoder writes events as they are kept. The zero value is ready; it must not be
// used by several goroutines at once.
//
// It is written by hand and allocates nothing: each call that is on the record
// pays for it a few times.
type Encoder struct {
	second int64  // since 1970, that head holds
	head   []byte // of a time: all but the parts of the second
	call   which  // that part is about
	part   []byte // of a line
}

// which is which call it is.
type which struct {
	tenant, principal, session, id, callID, name string
	turn, index                                  int
}

// Call is Ferrule's id of the call that it belongs to, as a line has it; "": none.
func (e *Event) Call() string {
	if e.Request == nil {
		return ""
	}
	return clean(e.Request.ID)
}

// Append appends an event as an [Entry]: one line of JSON, without an end of the
// line. Bytes that are not UTF-8 are replaced; long texts are cut and say so. Of
// [Updated] it appends nothing: what came of output and progress is in the result.
func (enc *Encoder) Append(b []byte, e *Event) []byte {
	if e.Kind == Updated {
		return b
	}
	b = append(b, `{"time":"`...)
	b = enc.appendTime(b, e.Time)
	b = appendString(append(b, `","kind":`...), string(e.Kind))
	if r := e.Request; r != nil {
		b = append(b, enc.about(r)...)
		b = appendKnown(b, e.Kind, r)
	} else {
		b = appendField(b, `,"session":`, e.Session)
		b = appendNumber(b, `,"turn":`, e.Turn)
		b = appendField(b, `,"tool":`, e.Name)
	}
	b = appendField(b, `,"by":`, e.By)
	if e.Decision == nil || e.Decision.Reason != e.Text {
		b = appendField(b, `,"text":`, e.Text)
	}
	if e.Args != "" {
		b = appendArgs(b, e.Args)
	}
	b = appendField(b, `,"question":`, e.Question)
	if d := e.Decision; d != nil {
		b = append(append(b, `,"decision":{"verdict":"`...), d.Verdict.String()...)
		b = append(b, '"')
		b = appendField(b, `,"rule":`, d.Rule)
		b = appendField(b, `,"reason":`, d.Reason)
		b = append(b, '}')
	}
	if e.Result != nil {
		b = appendResult(b, e.Result)
	}
	b = appendFlow(b, e.Flow)
	if e.Took != 0 {
		b = strconv.AppendInt(append(b, `,"took_ns":`...), int64(e.Took), 10)
	}
	return append(b, '}')
}

// about is the part of a line that says which call it is of. Most follow another
// one of the same call.
func (enc *Encoder) about(r *tool.Request) []byte {
	call := which{r.Caller.Tenant, r.Caller.Principal, r.Caller.Session, r.ID, r.CallID, r.Name, r.Turn, r.Index}
	if enc.part != nil && call == enc.call {
		return enc.part
	}
	b := appendField(enc.part[:0], `,"tenant":`, call.tenant)
	if call.principal != "local" {
		b = appendField(b, `,"principal":`, call.principal)
	}
	b = appendField(b, `,"session":`, call.session)
	b = appendNumber(b, `,"turn":`, call.turn)
	b = appendNumber(b, `,"index":`, call.index)
	if call.id != "" {
		b = appendString(append(b, `,"id":`...), call.id) // never cut: it is looked up
	}
	b = appendField(b, `,"call_id":`, call.callID)
	enc.call, enc.part = call, appendField(b, `,"tool":`, call.name)
	return enc.part
}

// appendKnown appends what is known of a call when it arrives, and what of it may
// be another later, when it is.
func appendKnown(b []byte, k Kind, r *tool.Request) []byte {
	switch k {
	case Requested, Changed, Moved, Resolved:
	case Decided:
		return appendField(b, `,"mode":`, r.Mode)
	default:
		return b
	}
	if r.CalledAs != r.Name {
		b = appendField(b, `,"called_as":`, r.CalledAs)
	}
	b = appendField(b, `,"source":`, r.Source.Name)
	if r.Tool != nil { // else it is of no source
		b = append(append(b, `,"trust":"`...), r.Source.Trust.String()...)
		b = append(append(b, `","class":"`...), r.Claims.Class()...)
		b = append(b, '"')
	}
	b = appendField(b, `,"mode":`, r.Mode)
	b = appendField(b, `,"client":`, r.Caller.Client)
	b = appendField(b, `,"agent":`, r.Caller.Agent)
	return appendField(b, `,"run":`, r.Caller.Run)
}

// appendFlow appends what is JSON already, on one line; what is not is left out.
func appendFlow(b []byte, text string) []byte {
	if text == "" || len(text) > maxFlow || strings.ContainsAny(text, "\r\n") || !utf8.ValidString(text) || !json.Valid([]byte(text)) {
		return b
	}
	return append(append(b, `,"flow":`...), text...)
}

func appendArgs(b []byte, args string) []byte {
	b = append(b, `,"args":`...)
	if len(args) <= maxArgs {
		return appendString(b, args)
	}
	b = appendString(b, cut(args, maxArgs))
	b = strconv.AppendInt(append(b, `,"args_cut":{"bytes":`...), int64(len(args)), 10)
	sum := sha256.Sum256([]byte(args))
	b = hex.AppendEncode(append(b, `,"sha256":"`...), sum[:])
	return append(b, `"}`...)
}

func appendResult(b []byte, res *tool.Result) []byte {
	b = append(b, `,"result":{"blocks":`...)
	b = strconv.AppendInt(b, int64(len(res.Content)), 10)
	chars, size := 0, 0
	var first *tool.Content // that has text
	for i := range res.Content {
		c := &res.Content[i]
		size += len(c.Text) + len(c.JSON) + len(c.Data)
		if n := utf8.RuneCountInString(c.Text) + utf8.RuneCount(c.JSON); n > 0 {
			if chars += n; first == nil {
				first = c
			}
		}
	}
	b = appendNumber(b, `,"bytes":`, size)
	if chars != size {
		b = appendNumber(b, `,"chars":`, chars)
	}
	if first != nil {
		b = append(b, `,"preview":`...)
		if len(first.JSON) > 0 {
			b = appendString(b, begin(first.JSON))
		} else {
			b = appendString(b, begin(first.Text))
		}
	}
	if e := res.Err; e != nil {
		b = appendString(append(b, `,"is_error":true,"kind":`...), string(e.Kind))
		b = appendField(b, `,"text":`, e.Text)
		b = appendField(b, `,"detail":`, e.Detail)
	}
	if t := res.Trust; t != nil {
		b = append(append(append(b, `,"trust":"`...), t.String()...), '"')
	}
	if o := res.Origin; o != nil {
		b = appendString(append(b, `,"origin":{"tool":`...), o.Tool)
		b = appendField(b, `,"source":`, o.Source)
		b = append(append(append(b, `,"sensitivity":"`...), o.Sensitivity.String()...), `"}`...)
	}
	return append(b, '}')
}

// begin is as much of a text as a preview has.
func begin[T ~string | ~[]byte](text T) T {
	if len(text) <= maxPreview {
		return text
	}
	text = text[:min(len(text), maxPreview*utf8.UTFMax)]
	chars := 0
	for i := range string(text) { // what is no character counts as one
		if chars == maxPreview {
			return text[:i]
		}
		chars++
	}
	return text
}

// cut is the beginning of a text, in bytes, that ends with a character.
func cut(text string, most int) string {
	for i := most; i > most-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return text[:i]
		}
	}
	return text[:most]
}

func appendNumber(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), int64(n), 10)
}

// appendField appends a key and a text, unless the text is empty. What of it is
// too long is cut.
func appendField(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, key...)
	if len(s) <= maxText {
		return appendString(b, s)
	}
	b = appendString(b, cut(s, maxText))
	b = append(b[:len(b)-1], ` [cut: `...)
	b = strconv.AppendInt(b, int64(len(s)), 10)
	return append(b, ` bytes]"`...)
}

// appendString appends a text as a string of JSON.
func appendString[T ~string | ~[]byte](b []byte, s T) []byte {
	start := len(b)
	b = append(b, '"')
	i := plain(s)
	b = append(b, s[:i]...)
	if i == len(s) {
		return append(b, '"')
	}
	b = slices.Grow(b, 2*(len(s)-i)+1)
	var all byte // bits that some byte has
	for ; i < len(s); i++ {
		c := s[i]
		if all |= c; c >= ' ' && c != '"' && c != '\\' {
			b = append(b, c)
			continue
		}
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		default:
			const digits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	b = append(b, '"')
	if all < utf8.RuneSelf || utf8.Valid(b[start:]) { // escapes are
		return b
	}
	return appendString(b[:start], clean(string(s)))
}

// plain is how many bytes at the beginning of a text stand for themselves: eight
// are looked at together, and a few too many may be left over.
func plain[T ~string | ~[]byte](s T) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// Each has the high bit of a byte that is not ASCII, or below a space, or 0.
		if (w|(w-ones*' ')|(quote-ones)|(slash-ones))&high != 0 {
			return i
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// clean is a text as it comes out of a line.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// appendTime writes a time so that texts sort as times do. Most follow another
// one in the same second.
func (enc *Encoder) appendTime(b []byte, t time.Time) []byte {
	if enc.head == nil || t.Unix() != enc.second {
		enc.second = t.Unix()
		enc.head = within(t).AppendFormat(enc.head[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, enc.head...)
	n := t.Nanosecond()
	var digits [9]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(append(b, digits[:]...), 'Z')
}

// within is a time in the years that have four digits.
func within(t time.Time) time.Time {
	switch t = t.UTC(); {
	case t.Year() > 9999:
		return time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	case t.Year() < 1: // the first one is none at all
		return time.Date(1, time.January, 1, 0, 0, 1, 0, time.UTC)
	}
	return t
}
