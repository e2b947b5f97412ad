package schema

import (
	"strconv"
	"strings"
)

// decimal is a number as written, without rounding: digits × 10^exp. Numbers
// of more than 18 significant digits are left to the full library.
type decimal struct {
	digits int64
	exp    int
}

const maxDigits = 18

// parseDecimal reads a valid JSON number; it is not ok when the number needs
// more digits than a decimal has.
func parseDecimal(text string) (d decimal, ok bool) {
	i, neg := 0, false
	if i < len(text) && text[i] == '-' {
		neg, i = true, 1
	}
	digits, zeros, point := 0, 0, false
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		if point {
			d.exp--
		}
		// Trailing zeros are counted and written only when a digit follows, so
		// that 1000000000000000000000 has one digit.
		if c == '0' {
			zeros++
			continue
		}
		if d.digits != 0 {
			digits += zeros
			if digits+1 > maxDigits {
				return decimal{}, false
			}
			for ; zeros > 0; zeros-- {
				d.digits *= 10
			}
		}
		zeros = 0
		if digits++; digits > maxDigits {
			return decimal{}, false
		}
		d.digits = d.digits*10 + int64(c-'0')
	}
	d.exp += zeros
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		e, sign, n := 0, 1, 0
		for i++; i < len(text); i++ {
			switch c := text[i]; {
			case c == '-':
				sign = -1
			case '0' <= c && c <= '9':
				if e = e*10 + int(c-'0'); e > maxNumberExponent {
					return decimal{}, false
				}
				n++
			case c != '+':
				return decimal{}, false
			}
		}
		if n == 0 {
			return decimal{}, false
		}
		d.exp += sign * e
	}
	if i < len(text) {
		return decimal{}, false
	}
	if neg {
		d.digits = -d.digits
	}
	if d.digits == 0 {
		d.exp = 0
	}
	return d, true
}

// isInteger reports whether d has no fraction. Digits never end in a zero, so
// a negative exponent is a fraction.
func (d decimal) isInteger() bool { return d.digits == 0 || d.exp >= 0 }

// int64 is d where it is an integer of at most 18 digits.
func (d decimal) int64() (int64, bool) {
	x, _, ok := scale(d, decimal{digits: 1})
	return x, ok && d.isInteger() && -1e18 < x && x < 1e18
}

// scale writes a and b with one exponent; it is not ok when that overflows.
func scale(a, b decimal) (x, y int64, ok bool) {
	if a.digits == 0 {
		return 0, b.digits, true
	}
	if b.digits == 0 {
		return a.digits, 0, true
	}
	for a.exp > b.exp {
		if a.digits > 1<<59 || a.digits < -1<<59 {
			return 0, 0, false
		}
		a.digits *= 10
		a.exp--
	}
	for b.exp > a.exp {
		if b.digits > 1<<59 || b.digits < -1<<59 {
			return 0, 0, false
		}
		b.digits *= 10
		b.exp--
	}
	return a.digits, b.digits, true
}

func (d decimal) compare(e decimal) (int, bool) {
	x, y, ok := scale(d, e)
	switch {
	case !ok:
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, true
}

func (d decimal) multipleOf(e decimal) (yes, ok bool) {
	x, y, ok := scale(d, e)
	if !ok || y == 0 {
		return false, false
	}
	return x%y == 0, true
}

// integerText writes an integer-valued JSON number such as 1.0, 1e2 or -0 in
// plain digits; ok is false when it is no integer, is plain already, or would
// be longer than any Go integer.
func integerText(text string) (plain string, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	point := len(whole)
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > maxNumberExponent || e < -maxNumberExponent {
			return "", false
		}
		point += e
	}
	digits := whole + fraction
	if strings.Trim(digits, "0") == "" {
		return "0", text != "0"
	}
	if point <= 0 || strings.Trim(digits[min(point, len(digits)):], "0") != "" {
		return "", false
	}
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	plain = strings.TrimLeft(digits[:point], "0")
	if len(plain) > 20 {
		return "", false
	}
	if negative {
		plain = "-" + plain
	}
	return plain, plain != text
}
