package search

import (
	"strings"
	"testing"
)

func TestSegments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ query, want string }{
		{"weather in Paris", ""},
		{"Show the weather forecast for Paris, France", ""},
		{"Show the weather forecast for Paris and book a cheap direct flight there", "Show the weather forecast for Paris|book a cheap direct flight"},
		{"Translate this long French text. Then send the result mail to Ann!", "Translate this long French text|send the result mail to Ann"},
		{"Convert 3.5 meters into feet", ""},
		{"Convert five meters into feet, please. Thanks", ""},
		{"create new calendar event; delete old calendar event; ok", "create new calendar event|delete old calendar event; ok"},
		{strings.Repeat("copy large text file. ", 30), strings.Repeat("copy large text file|", maxSegments-1) + strings.Repeat("copy large text file. ", 22) + "copy large text file"},
	} {
		q := parse(tt.query)
		var parts []string
		for _, s := range q.segments {
			parts = append(parts, q.part(s))
		}
		if got := strings.Join(parts, "|"); got != tt.want {
			t.Errorf("segments of %q: got %q, want %q", tt.query, got, tt.want)
		}
	}
}
