package durable

import (
	"bytes"
	"strings"
	"testing"
)

func TestReadHeader(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"as written", `{"version":1,"note":{"source":"s","tool":"t","trust":"mcp","sensitivity":"public"},"size":3}` + "\nabc", ""},
		{"empty", "", "header: got no end of line in the first 0 bytes"},
		{"only text", "abc", "header: got no end of line in the first 3 bytes"},
		{"a line without end", strings.Repeat(" ", 1<<20), "header: got no end of line in the first 16384 bytes"},
		{"no JSON", "abc\n", "header: invalid character 'a' looking for beginning of value"},
		{"two values", "{} {}\n", "header: invalid character '{' after top-level value"},
		{"another version", `{"version":2}` + "\n", "header: got version 2, want 1"},
		{"no version", "{}\n", "header: got version 0, want 1"},
		{"null", "null\n", "header: got version 0, want 1"},
		{"a negative size", `{"version":1,"size":-1}` + "\n", "header: got a size of -1"},
		{"a size that is none", `{"version":1,"size":1e99}` + "\n", "header: json: cannot unmarshal number 1e99 into Go struct field header.size of type int64"},
		{"a trust that is none", `{"version":1,"note":{"trust":"root"}}` + "\n", `header: got "root", want one of inbound`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readHeader(strings.NewReader(tt.text))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever is in a file, it is a header that can be written again or an error.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"version":1,"note":{"trust":"own","sensitivity":"secret"},"size":0}` + "\n"))
	f.Add([]byte(`{"version":1,"note":{"source":"\ud800","tool":"\u0000<"},"size":9223372036854775807}` + "\n\n"))
	f.Add([]byte(strings.Repeat("[", maxHeader) + "\n"))
	f.Add([]byte("\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, length, err := readHeader(bytes.NewReader(data))
		if err != nil {
			if h != (header{}) || length != 0 {
				t.Fatalf("got %+v and %d with error %v", h, length, err)
			}
			return
		}
		if length < 1 || length > int64(len(data)) || length > maxHeader || data[length-1] != '\n' || bytes.IndexByte(data, '\n') != int(length)-1 {
			t.Fatalf("got length %d of %d", length, len(data))
		}
		line, err := h.line()
		if err != nil {
			return // escapes can make it longer than what was read
		}
		if again, _, err := readHeader(bytes.NewReader(line)); err != nil || again != h {
			t.Fatalf("got %+v, %v, want %+v", again, err, h)
		}
	})
}
