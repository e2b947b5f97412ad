package scan

import "math/bits"

// shortSpaced is how many letters of the first word must stand apart.
const shortSpaced = 5

// spaced reads letters that stand apart from src[i] on, as in i g n o r e: one
// space or sign between letters, more between words. It adds them to text and
// returns how many bytes they took, 0 if there are too few.
func spaced(src []byte, i int, text []byte) ([]byte, int) {
	if !single(src, i) || i >= 2 && single(src, i-2) && src[i-1] == src[i+1] {
		return nil, 0
	}
	sep, at, letters := src[i+1], i, 0
	for {
		text = append(text, src[at])
		letters++
		next := at + 2
		if next >= len(src) || src[at+1] != sep {
			at++
			break
		}
		if sep == ' ' && letters >= shortSpaced && src[next] == ' ' {
			for next < len(src) && src[next] == ' ' && next-at < 6 {
				next++
			}
		} else if sep != ' ' && letters >= shortSpaced && src[next] == ' ' {
			next++
		}
		if next >= len(src) || !alone(src, next) {
			at++
			break
		}
		if next > at+2 {
			text = append(text, ' ')
		}
		at = next
	}
	if letters < shortSpaced {
		return nil, 0
	}
	return text, at - i
}

// single: src[at] is a letter that stands alone, with a sign behind it.
func single(src []byte, at int) bool {
	if at+1 >= len(src) || !alone(src, at) {
		return false
	}
	return apartSign(src[at+1]) && at+2 < len(src) && alone(src, at+2)
}

// apartSign: stands between letters that are kept apart.
func apartSign(b byte) bool {
	return b == ' ' || b == '.' || b == '-' || b == '_' || b == '*' || b == '|'
}

// alone: src[at] is a letter with none beside it.
func alone(src []byte, at int) bool {
	c := src[at] | 0x20
	return 'a' <= c && c <= 'z' &&
		(at == 0 || !wordByte(src[at-1]) && digit(src[at-1]) < 0) && (at+1 == len(src) || !wordByte(src[at+1]) && digit(src[at+1]) < 0)
}

// One in each of eight bytes, and the highest bit of each.
const (
	ones    = 0x0101010101010101
	highest = 0x8080808080808080
)

// between marks the bytes of x from lo to hi, which are ASCII, by their highest
// bit.
func between(x uint64, lo, hi byte) uint64 {
	low := x &^ highest
	return (low + (0x80-uint64(lo))*ones) &^ (low + (0x7f-uint64(hi))*ones) &^ x & highest
}

// trailing is the index of the lowest byte that is marked.
func trailing(x uint64) int { return bits.TrailingZeros64(x) / 8 }
