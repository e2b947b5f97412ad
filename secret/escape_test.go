package secret_test

import (
	"strconv"
	"testing"
)

func TestScrubGoAndC(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, value, text string }{
		{"K3 as Go escapes it, beyond the first plane", "pass😀word", strconv.QuoteToASCII("pass😀word")},
		{"K3 as C escapes it", "passé\x1bword", `pass\303\251\033word`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			if got, found := vaultOf(t, tt.value).Scrub(tt.text); len(found) == 0 {
				t.Errorf("Scrub leaves %q", got)
			}
		})
	}
}
