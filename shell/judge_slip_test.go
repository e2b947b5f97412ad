package shell_test

import (
	"testing"

	"github.com/ferrule-dev/ferrule/shell"
)

// TestJudgeNotEither has lines that look like those that only read: a word
// becomes another, a flag is none where it stands, a program does more than its
// name says.
func TestJudgeNotEither(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, line string }{
		{"a program with a space in its name", "'git status'"},
		{"a program with a space at the end of its name", "'systemctl '"},
		{"a command of a program with a space in its name", "git 'stash list'"},
		{"a command of a program without a name", "systemctl ''"},

		{"the value of a flag that becomes a command of git", "x='. branch'; git -C $x status"},
		{"the value of a flag that becomes a command of git, by a glob", "git -C *.d status"},
		{"the value of a flag that becomes a program", "x='5 touch'; nice -n $x cat"},
		{"the value of a flag that becomes a program, of timeout", "timeout -k $x 5 cat"},
		{"a value that is empty, so that the program is the separator", `awk -F"$x" p 'BEGIN{system("touch y")}'`},
		{"a value that is empty, so that an operand is the output", `xxd -c"$x" -s 5 y`},
		{"a glob that finds an action of find", "find . -name [-.]*"},
		{"a glob that finds nothing, so that a value is an action of find", "shopt -s nullglob; find . ! -name *.none -name -delete"},
		{"a home that is split at any letter", "IFS=h; uniq $HOME/x"},
		{"a word of git reflog by a glob", "git reflog d* HEAD@{0}"},
		{"a word of git reflog by braces", "git reflog d{elete,x} HEAD@{0}"},

		{"a file that was opened to read, by the name of the stream", "echo x 1< y > /dev/stdout"},
		{"a file that was opened to read, by the name of the other stream", "echo x 2< y > /dev/stderr"},
		{"a file that was opened to read, by the number of the stream", "{ echo x > /dev/fd/1; } < y >&0"},

		{"gzip with the name of a flag behind --", "gzip -- -c x"},
		{"cpio with the name of a flag behind --", "cpio -i -- -t '*'"},
		{"rpm with the name of a flag behind --", "rpm -i -- -q x"},
		{"git config with the name of a flag behind --", "git config -- core.pager --get"},
		{"git config with the name of a flag behind its key", "git config core.pager -- --get"},
		{"git branch with the name of a flag behind --", "git branch -- x --list"},
		{"javap with a flag behind --", "javap -- -J-agentpath:./x y"},
		{"xxd with a flag behind its operand, which is its output", "xxd x -p"},
		{"uniq with a flag behind its operand, which may be its output", "uniq x -c"},
		{"unzip with the name of a flag behind its archive", "unzip x.zip -l"},
		{"unzip with the name of a flag to leave out", "unzip x.zip -x -l"},
		{"unzip into a folder", "unzip -l x.zip -d y"},
		{"git branch with a flag that takes no next word", "git branch --abbrev x"},
		{"git branch with a flag that once made one", "git branch -l x"},

		{"git with a format that is computed", `git for-each-ref --format="$x"`},
		{"git with a format that is computed, as the next word", `git for-each-ref --format "$x"`},
		{"git tag with a format that is computed, as the next word", `git tag --list --format "$x"`},
		{"git in submodules by a long status", "git status -vv"},
		{"git that merges again, by drivers", "git log --diff-merges=remerge"},
		{"git range-diff, which runs git log", "git range-diff a b c"},

		{"sed that writes behind a text that ends with two backslashes", "sed 'a x\\\\\nw y' z"},
		{"sed that writes behind a text of backslashes", "sed 'a\\\\\\\nw y' z"},
		{"awk that reads a connection that it composes", `awk 'BEGIN{ARGV[1]="/in" "et/tcp/0/x/1"; ARGC=2} {print}'`},
		{"awk that writes behind a line feed in parentheses", "awk 'BEGIN{print (1\n) > \"x\"}'"},
		{"awk that writes behind a word that is a variable to some", `awk 'BEGIN{case=1; print case /2 > "x"; y=1 /1}'`},
		{"awk that writes behind a pattern, which is a division to some", `awk 'BEGIN{ y=length /"/; print 1 > "x" }# "'`},
		{"awk that writes behind a pattern, with a number before the word", `awk 'BEGIN{ y=3length /"/; print 1 > "x" }# "'`},
		{"awk that writes behind a pattern that begins like an assignment", `awk 'BEGIN{ y=1 /="/; print 1 > "x" }# "'`},
		{"awk that writes behind a pattern with a slash in brackets", `awk 'BEGIN { y = z[ /[[:alpha:]/]"/ ]; print 1 > "x" } # "'`},
		{"awk that writes a number at once", `awk 'BEGIN{print.5 > "x"}'`},
		{"awk that writes a number at once, by a format", `awk 'BEGIN{printf.5 > "x"}'`},
		{"awk that writes behind a backslash, a space and a line feed", "awk 'BEGIN{print 1 \\ \n > \"x\"}'"},
		{"awk that writes behind a backslash and a comment", "awk 'BEGIN{print 1 \\ # y\n > \"x\"}'"},
		{"awk that writes behind an operator and a line feed", "awk 'BEGIN{print 1 +\n2 > \"x\"}'"},
		{"awk that writes behind a word and a line feed", "awk 'BEGIN{print 1 in\ny > \"x\"}'"},
		{"awk that writes what looks like a comparison", `awk 'BEGIN{print 1 >="x"}'`},
		{"awk that writes behind a letter that is none to others", `awk 'BEGIN{y=é /2; print 1 > "x"; z=1 /1}'`},
		{"awk that reaches a variable by a name that it composes", `awk 'BEGIN{SYMTAB["AR" "GV"][1]="x"}'`},
		{"awk that reaches a function by a name that it composes", `awk 'BEGIN{for (f in FUNCTAB) print f}'`},
		{"tar of another machine and a file", "tar -tf x:y -f ./z"},
		{"tar of what may be another machine", `tar tf "h$x/y"`},

		{"python, which reads its program and says more", "echo 'open(\"x\",\"w\")' | python3 -v"},
		{"tmux, which logs", "tmux -v"},
		{"pmap that writes settings", "pmap -N x"},
		{"file that sets the time of access back", "file -p x"},
		{"diffstat to a file", "diffstat -o x"},
		{"diffstat of a file with a line for a shell", "diffstat 'x;touch y.gz'"},
		{"in2csv to files", "in2csv --write-sheets - x.xlsx"},
		{"diff-so-fancy that configures git", "diff-so-fancy --set-defaults"},
		{"net-snmp-config that makes users", "net-snmp-config --create-snmpv3-user"},
		{"uuidgen that keeps its clock", "uuidgen -t"},
		{"postconf that sets", "postconf mail_name=x"},
		{"zramctl that resets", "zramctl -r /dev/zram0"},
		{"smartctl that sets", "smartctl -l scterc,70,70 /dev/sda"},
		{"nvidia-smi that sets", "nvidia-smi -lgc"},
		{"brightnessctl that restores", "brightnessctl get -r"},
		{"pactl of another machine", "pactl list -s x"},
		{"edid-decode to a file", "edid-decode x y"},
		{"soxi that runs", "soxi '|touch x'"},
		{"exiftool that ran", "exiftool 'touch x|'"},
		{"mediainfo of another machine", "mediainfo http://x/y"},
		{"ugrep with a configuration of the folder", "ug x"},
		{"hledger with a configuration of the folder", "hledger print"},
		{"gofumpt, which runs go", "gofumpt -l ."},
		{"a time zone that is a file", "TZ=/etc/shadow date"},
		{"zless with a command", "zless '+!touch x' y"},
		{"xzless with a command", "xzless '+!touch x' y"},
		{"zmore with a command that is computed", `zmore "$x" y`},
		{"sed with a flag that takes no value everywhere", "sed -l 'w x' p"},
		{"sed with a flag that takes no value everywhere, among others", "sed -nl 'w x' p"},
		{"ffprobe of another machine", "ffprobe tcp:h:1"},
		{"ffprobe of another machine, by a flag", "ffprobe -i tcp:h:1"},
		{"ffprobe of another machine behind the value of a flag", "ffprobe -v quiet -i concat:tcp:h:1"},
		{"ffprobe of what is computed", `ffprobe -i t"$x"`},
		{"a version that is looked for", "nuclei --version"},
	} {
		t.Run("I2 "+tt.name, func(t *testing.T) {
			t.Parallel()
			if j := shell.Judge(tt.line); j.ReadOnly || j.Why == "" {
				t.Errorf("Judge(%q): got ReadOnly %v, Why %q, want not ReadOnly, and why", tt.line, j.ReadOnly, j.Why)
			}
		})
	}
}

// TestJudgeNotLocal has lines that only read, but look names up elsewhere.
func TestJudgeNotLocal(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"who --lookup", "pinky", "hostid", "dnsdomainname", "ipcalc -h 10.0.0.1", "ip -r a", "last -d"} {
		if j := shell.Judge(line); j.Local {
			t.Errorf("I2 Judge(%q).Local: got true, want false", line)
		}
	}
}
