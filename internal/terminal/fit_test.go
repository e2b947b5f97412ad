package terminal

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"abc", 5, "abc"},
		{"abcdefgh", 3, "abc|def|gh"},
		{"ab cd ef", 5, "ab |cd ef"},
		{"a  b", 2, "a | b"},
		{"日本語", 4, "日本|語"},
		{"abc", 0, "a|b|c"},
		{"ab cd efgh ij", 4, "ab |cd |efgh| ij"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301|e\u0301"},
		{"\u0915\u0903\u0915\u0903", 3, "\u0915\u0903|\u0915\u0903"},
	}
	for _, tt := range tests {
		t.Run("P4 nothing is left out: "+tt.text, func(t *testing.T) {
			got := wrap(tt.text, tt.width)
			if strings.Join(got, "|") != tt.want {
				t.Errorf("wrap(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
			}
			if strings.Join(got, "") != tt.text {
				t.Errorf("wrap(%q, %d) = %q: something is missing", tt.text, tt.width, got)
			}
		})
	}
}
