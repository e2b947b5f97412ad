package cedar

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
)

// Bounds of one argument. A set of many values that were chosen for it takes
// long to make.
const (
	mostValues = 4096
	mostDepth  = 64
)

// arguments goes through the members of arguments, whose text is JSON that was
// checked: an object without duplicate names. It does not decode what nobody asks
// for.
func arguments(text string, member func(name, value string)) {
	i := skip(text, 0)
	if i >= len(text) || text[i] != '{' {
		return
	}
	for i = skip(text, i+1); i < len(text) && text[i] == '"'; {
		end := endOfJSON(text, i)
		name := text[i:end]
		i = skip(text, skip(text, end)+1) // behind the colon
		end = endOfJSON(text, i)
		member(name, text[i:end])
		if i = skip(text, end); i < len(text) && text[i] == ',' {
			i = skip(text, i+1)
		}
	}
}

// skip is where the white space at i ends.
func skip(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// endOfJSON is where the value at i ends.
func endOfJSON(text string, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(text))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// unquote is the text of a JSON string.
func unquote(raw string) string {
	if len(raw) < 2 {
		return ""
	}
	if plain := raw[1 : len(raw)-1]; strings.IndexByte(plain, '\\') < 0 {
		return plain
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil {
		return ""
	}
	return s
}

// holder makes Cedar values of JSON.
type holder struct {
	values, depth int
	short         bool // texts are at most mostLiked
}

func (h *holder) value(raw string) (types.Value, bool) {
	if h.values++; h.values > mostValues || h.depth >= mostDepth || raw == "" {
		return nil, false
	}
	switch raw[0] {
	case '"':
		text := unquote(raw)
		return types.String(text), !h.short || len(text) <= mostLiked
	case 't':
		return types.True, true
	case 'f':
		return types.False, true
	case 'n':
		return nil, false
	case '{':
		return h.record(raw)
	case '[':
		return h.set(raw)
	}
	n, ok := whole(raw)
	return types.Long(n), ok
}

func (h *holder) record(raw string) (types.Value, bool) {
	m, all := make(types.RecordMap), true
	h.depth++
	arguments(raw, func(name, value string) {
		if !all {
			return
		}
		var v types.Value
		if v, all = h.value(value); all {
			m[types.String(unquote(name))] = v
		}
	})
	h.depth--
	return types.NewRecord(m), all
}

func (h *holder) set(raw string) (types.Value, bool) {
	var list []types.Value
	h.depth++
	for i := skip(raw, 1); i < len(raw) && raw[i] != ']'; {
		end := endOfJSON(raw, i)
		v, ok := h.value(raw[i:end])
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if i = skip(raw, end); i < len(raw) && raw[i] == ',' {
			i = skip(raw, i+1)
		}
	}
	h.depth--
	return types.NewSet(list...), true
}

// whole is a JSON number that is whole and fits 64 bits, however it is written.
func whole(raw string) (int64, bool) {
	if n, err := strconv.ParseInt(raw, 10, 64); err == nil {
		return n, true
	}
	digits, exponent, _ := strings.Cut(strings.ToLower(raw), "e")
	front, behind, _ := strings.Cut(digits, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			shift = 1 << 30 // only zero can be shifted as far
			if strings.HasPrefix(exponent, "-") {
				shift = -shift
			}
		}
	}
	sign := ""
	if rest, ok := strings.CutPrefix(front, "-"); ok {
		sign, front = "-", rest
	}
	digits = strings.TrimLeft(front+behind, "0")
	if digits == "" {
		return 0, true
	}
	shift -= len(behind)
	for ; shift < 0 && strings.HasSuffix(digits, "0"); shift++ {
		digits = digits[:len(digits)-1]
	}
	if shift < 0 || shift > 19 || len(digits)+shift > 19 {
		return 0, false
	}
	n, err := strconv.ParseInt(sign+digits+strings.Repeat("0", shift), 10, 64)
	return n, err == nil
}
