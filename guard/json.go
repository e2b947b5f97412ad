package guard

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// json looks through structured content, and takes out of its texts what is to be
// taken out.
func (c *cleaner) json(raw json.RawMessage) (clean json.RawMessage, changed bool) {
	c.found = append(c.found, c.scanner.ScanBy(raw, c.until(len(raw)))...)
	return c.inJSON(raw)
}

// inJSON takes out of the texts of structured content what is to be taken out.
// What lies across the borders of its strings stays: a finding tells of it.
func (c *cleaner) inJSON(raw json.RawMessage) (clean json.RawMessage, changed bool) {
	if c.how == Flag || c.how == Pass || !c.how.strips() && plain(raw) {
		return raw, false
	}
	kept := 0
	for at := 0; at < len(raw); {
		if raw[at] != '"' {
			at++
			continue
		}
		end := endOfString(raw, at)
		if c.how.strips() && c.late(end-at) {
			return json.RawMessage(`"[removed]"`), true
		}
		var text string
		if (!c.values || !isName(raw, end)) && json.Unmarshal(raw[at:end], &text) == nil {
			b := []byte(text)
			left := c.strip(b, c.how.strips() && len(c.scanner.Scan(b)) > 0)
			if !bytes.Equal(left, b) {
				quoted, err := json.Marshal(string(left))
				if err == nil {
					clean = append(append(clean, raw[kept:at]...), quoted...)
					kept = end
				}
			}
		}
		at = end
	}
	if kept == 0 {
		return raw, false
	}
	return append(clean, raw[kept:]...), true
}

// isName reports whether the string that ends there names a member.
func isName(raw []byte, end int) bool {
	rest := bytes.TrimLeft(raw[end:], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// plain reports whether nothing in it can be invisible.
func plain(raw []byte) bool {
	return !bytes.Contains(raw, []byte(`\u`)) && !bytes.ContainsFunc(raw, func(r rune) bool { return r >= utf8.RuneSelf })
}

// endOfString is where the string that begins at a quote ends.
func endOfString(raw []byte, at int) int {
	for at++; at < len(raw); at++ {
		switch raw[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(raw)
}
