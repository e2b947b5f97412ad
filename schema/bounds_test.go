package schema

import (
	"fmt"
	"testing"
)

// TestIntegerBounds holds the short way for plain integers to the library.
func TestIntegerBounds(t *testing.T) {
	bounds := []string{"-9", "-1", "0", "1", "1.5", "7", "1e2", "999999999999999999", "1e18", "9223372036854775807", "1e30", "-1e30"}
	values := []string{"-10", "-9", "-2", "-1", "-0", "0", "1", "2", "7", "8", "99", "100", "101", "999999999999999998", "999999999999999999", "1000000000000000000", "9223372036854775808"}
	keywords := []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
	t.Run("S1 bounds of plain integers are the library's", func(t *testing.T) {
		for _, k1 := range keywords {
			for _, k2 := range keywords {
				for _, b1 := range bounds {
					for _, b2 := range []string{"0", "100", "1e18"} {
						s, err := Compile(fmt.Appendf(nil, `{"%s":%s,"%s":%s}`, k1, b1, other(k1, k2), b2), Options{})
						if err != nil {
							t.Fatal(err)
						}
						for _, v := range values {
							if full := s.fullCheck(v); s.fast != nil && s.fast.accepts(v, 0) && full != nil {
								t.Errorf("%s: %s accepted in one pass: %v", s.Source(), v, full)
							}
						}
					}
				}
			}
		}
	})
}

// other is b, or a keyword that means nothing where it would stand twice.
func other(a, b string) string {
	if a == b {
		return "x-" + b
	}
	return b
}
