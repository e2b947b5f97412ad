package shell

import (
	"slices"
	"strings"
)

// judgeTar judges tar: only listing, of a file by its name.
func judgeTar(args []word) string {
	if len(args) == 0 {
		return "without flags it is not known to only read"
	}
	lists, file := false, ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		text := a.text
		switch {
		case text == "--list":
			lists = true
		case strings.HasPrefix(text, "--file="):
			if file != "" {
				return "it has more than one archive"
			}
			file = text[len("--file="):]
		case text == "--verbose" || text == "--gzip" || text == "--bzip2" || text == "--xz" || text == "--zstd" || text == "--wildcards" || text == "--full-time" || text == "--numeric-owner":
		case i == 0 && a.fixed() && !strings.HasPrefix(text, "-"), a.fixed() && strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && len(text) > 1:
			letters := strings.TrimPrefix(text, "-")
			at := strings.IndexByte(letters, 'f')
			if at >= 0 && file != "" {
				return "it has more than one archive"
			}
			if at >= 0 && at+1 < len(letters) && text[0] == '-' {
				file, letters = letters[at+1:], letters[:at]
			} else if at >= 0 {
				if i++; i >= len(args) || !args[i].one() {
					return "its archive is not known"
				}
				file = args[i].text
			}
			if strings.Trim(letters, "tvfzjJa") != "" {
				return "the flags " + text + " are not among those that only read"
			}
			lists = lists || strings.Contains(letters, "t")
		case a.plain() && a.fixed():
		default:
			return shown(a) + " is not among the words that only read"
		}
	}
	switch {
	case !lists:
		return "without -t it may write"
	case file == "" || strings.HasPrefix(file, computed):
		return "its archive is not known"
	case strings.ContainsAny(strings.SplitN(file, "/", 2)[0], ":"+computed):
		return "its archive may be on another machine"
	}
	return ""
}

// judgeJar judges jar: only listing.
func judgeJar(args []word) string {
	if len(args) < 2 || strings.Trim(strings.TrimPrefix(args[0].text, "-"), "tvf") != "" || !strings.Contains(args[0].text, "t") {
		return "without t it may write"
	}
	for _, a := range args[1:] {
		if !a.fixed() || !a.plain() || strings.HasPrefix(a.text, "@") {
			return shown(a) + " may be a flag"
		}
	}
	return ""
}

// judgeAr judges ar: only listing and printing.
func judgeAr(args []word) string {
	if len(args) < 2 {
		return "without an archive it is not known to only read"
	}
	letters := strings.TrimPrefix(args[0].text, "-")
	if letters == "" || letters[0] != 't' && letters[0] != 'p' || strings.Trim(letters[1:], "vOo") != "" {
		return shown(args[0]) + " may write"
	}
	for _, a := range args[1:] {
		if !a.fixed() || !a.plain() || strings.HasPrefix(a.text, "@") {
			return shown(a) + " may be a flag"
		}
	}
	return ""
}

// judgeUnzip judges unzip: listing, testing and printing.
func judgeUnzip(args []word) string {
	at := slices.IndexFunc(args, func(a word) bool { return !strings.HasPrefix(a.text, "-") })
	if at < 0 {
		return "without an archive it is not known to only read"
	}
	for _, a := range args[at+1:] { // members; flags are none here, but for these
		if strings.HasPrefix(a.text, "-d") || strings.HasPrefix(a.start(), "-") && a.text != "-x" || a.splits {
			return shown(a) + " may be a flag"
		}
	}
	return needs("-l -v -p -t -Z -c", "-lvptqcZ1sm")(args[:at+1])
}

// judgeCpio judges cpio: listing what comes in.
func judgeCpio(args []word) string {
	return needs("-t --list", "-itvzn --list --extract --verbose --numeric-uid-gid --quiet")(args)
}

// judgeCompress judges gzip and its like: to standard output, listing, testing.
// Of -t and -d the last one counts, so there is no -d without -c.
func judgeCompress(args []word) string {
	if needs("-l -t --list --test", "-ltvq --list --test --verbose --quiet")(args) == "" {
		return ""
	}
	const all = "-cdvqfk -# --stdout --to-stdout --decompress --uncompress --verbose --quiet --keep --force"
	if operands, why := flags(all).check(args); why == "" && len(operands) == 0 {
		return "" // from standard input to standard output
	}
	return needs("-c --stdout --to-stdout", all)(args)
}

// judgeToStdout judges pdftotext, which writes beside its input unless told to
// write to standard output.
func judgeToStdout(args []word) string {
	operands, why := flags("-q ~layout ~raw ~nopgbrk ~htmlmeta ~bbox ~f= ~l= ~r= ~x= ~y= ~W= ~H= ~enc= ~eol= ~opw= ~upw=").check(args)
	switch {
	case why != "":
		return why
	case len(operands) != 2 || operands[1].text != "-" || !operands[0].one():
		return "without - as its output it writes a file"
	}
	return ""
}
