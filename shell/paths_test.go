package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/shell"
)

// TestReads has lines of programs whose reads are known, with flags that name
// more files, or make a word that looks like a file something else.
func TestReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, want string }{
		{"grep -eboot /etc/passwd", "/etc/passwd"},
		{"grep -oe boot /etc/passwd", "/etc/passwd"},
		{"grep -ie boot -e x a b", "a b"},
		{"grep --regexp=boot /etc/passwd", "/etc/passwd"},
		{"grep --regexp boot /etc/passwd", "/etc/passwd"},
		{"grep -A 3 -B3 -m1 x a", "a"},
		{"grep -nC2 x a", "a"},
		{"grep --include='*.go' -rn x", "."},
		{"grep --include=*.go -rn x", "unknown"}, // files may have such names
		{"grep -re x", "."},
		{"grep -r x -- -a", "-a"},
		{"grep x", ""},
		{"grep --file=/etc/shadow f", "unknown"},
		{"grep --file /etc/shadow f", "unknown"},
		{"grep --fi=/etc/shadow f", "unknown"},
		{"grep -of /etc/shadow f", "unknown"},
		{"grep -f /etc/shadow f", "unknown"},
		{"grep -f/etc/shadow f", "unknown"},
		{"grep -of/etc/shadow f", "unknown"},
		{"grep --exclude-from=/etc/shadow x f", "unknown"},
		{"grep --exclude-from /etc/shadow x f", "unknown"},
		{"grep -d recurse x", "unknown"},
		{"grep --directories=recurse x", "unknown"},
		{"date", ""},
		{"date -u +%F", ""},
		{"date -d tomorrow", ""},
		{"date -f /etc/shadow", "unknown"},
		{"date -uf /etc/shadow", "unknown"},
		{"date --file=/etc/shadow", "unknown"},
		{"date -r /etc/shadow", "unknown"},
		{"date --reference=/etc/shadow", "unknown"},
		{"md5sum a", "a"},
		{"md5sum -c list", "unknown"},
		{"sha1sum -bc list", "unknown"},
		{"sha256sum --check list", "unknown"},
		{"sha512sum --che list", "unknown"},
		{"cksum --check list", "unknown"},
		{"file a", "a"},
		{"file -f list", "unknown"},
		{"file -bf list", "unknown"},
		{"file --files-from list", "unknown"},
		{"file -m magic a", "unknown"},
		{"sort -k 2 -t , a", "a"},
		{"sort --files0-from list", "unknown"},
		{"wc -l a", "a"},
		{"wc --files0-from list", "unknown"},
		{"wc --files0-from=list", "unknown"},
		{"du -sh a", "a"},
		{"du -d 1", "."},
		{"du --files0-from=list", "unknown"},
		{"du -X list a", "unknown"},
		{"du --exclude-from=list a", "unknown"},
		{"diff -U 3 a b", "a b"},
		{"diff --from-file=a b", "unknown"},
		{"diff --from-file a b", "unknown"},
		{"diff --to-file=a b", "unknown"},
		{"diff -X list a b", "unknown"},
		{"diff --exclude-from=list a b", "unknown"},
		{"head -n 3 a", "a"},
		{"head -n -3 a", "a"},
		{"head -3 a", "a"},
		{"tail -fn 3 a", "a"},
		{"hexdump -C a", "a"},
		{"hexdump -f format a", "unknown"},
		{"ls -la a", "a"},
		{"ls -T a", "unknown"}, // with a value or without
		{"tree --fromfile a", "unknown"},
		{"strings -n 8 a", "a"},
		{"strings @list", "unknown"},
		{"base64 -i a", "unknown"},
		{"tr a-z A-Z", ""},
		{"cat --nu a", "unknown"}, // an abbreviation may be of any flag
		{"comm a b", "unknown"},
		{"cut -f1 a", "unknown"},
	} {
		t.Run("T14 "+tt.line, func(t *testing.T) {
			t.Parallel()
			got := "unknown"
			if reads := shell.Judge(tt.line).Reads; reads != nil {
				got = strings.Join(reads, " ")
			}
			if got != tt.want {
				t.Errorf("Judge(%q).Reads: got %q, want %q", tt.line, got, tt.want)
			}
		})
	}
}

// TestWrites has lines in which a word may become a flag that names where cp and
// mv write.
func TestWrites(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		`cp "$x" a b`:          nil,
		"cp $x b":              nil,
		"cp * b":               nil,
		"mv $x b":              nil,
		"cat $x; cp a b":       {"b"},
		"cp -- a b":            {"b"},
		"cp --target=/etc a b": nil,
		"tee a b":              {"a", "b"},
	} {
		t.Run("T14 "+line, func(t *testing.T) {
			t.Parallel()
			if got := shell.Judge(line).Writes; !slices.Equal(got, want) || (got == nil) != (want == nil) {
				t.Errorf("Judge(%q).Writes: got %q, want %q", line, got, want)
			}
		})
	}
}
