//go:build unix

package shell_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/ferrule-dev/ferrule/shell"
)

// TestParserAgreesWithBash makes lines of pieces that are hard to read, and runs
// those that are judged ReadOnly, or whose commands are said to be known without
// the one that writes: where bash reads a line otherwise than the parser, a file
// appears.
func TestParserAgreesWithBash(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	root := world(t)
	before := snapshot(t, root)
	pieces := strings.Split("touch P|touch P|$(|)|`|'|\"|\\|${x:-|${x#|${x/y/|${x:+|}|$'|\n|\n|;| | |echo |cat |<<E\n|\nE\n|<<'E'\n|<<<|#| #|x|{|(|((|))|$((|[[ | ]]| == |case x in |;;|esac|&&|!|if |then |fi|do |done|for i in |=|a=|[|]|*|~|<(|$|\\\n|&|2>&1|</dev/null|>|1|{a,b}|sort |-o|uniq |time |a=(|a[|]=|$[|\\\\|f()|$x|\"$x\"|++", "|")
	begins := []string{"echo ", "echo \"", "cat <<E\n", "x=y; echo ", "", "if true; then ", "(", "{ "}
	ends := []string{"", "", "\"", "\nE", "}\"", "')", "\nfi", ")", "; }", "; done"}
	r := rand.New(rand.NewPCG(7, 11))
	for ran := 0; ran < 150; {
		var b strings.Builder
		b.WriteString(begins[r.IntN(len(begins))])
		for range 2 + r.IntN(9) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		b.WriteString(ends[r.IntN(len(ends))])
		line := b.String()
		j := shell.Judge(line)
		if !j.ReadOnly || !strings.Contains(line, "touch P") {
			continue
		}
		ran++
		bash(t, root, line)
		if list := changed(before, snapshot(t, root)); len(list) > 0 {
			t.Fatalf("I2 %q is judged ReadOnly as %q, and changed: %v", line, j.Commands, list)
		}
	}
}
