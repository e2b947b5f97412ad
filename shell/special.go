package shell

import (
	"slices"
	"strings"
)

// needs makes a judgement of a program that only reads when one of some flags
// is there, such as crontab -l.
func needs(one, all string) func([]word) string {
	return func(args []word) string {
		if _, why := flags(all).check(args); why != "" {
			return why
		}
		for i := 0; i < len(args) && args[i].text != "--"; i++ {
			for f := range strings.FieldsSeq(one) {
				if flags(all).has(args[i].text, f) {
					return ""
				}
			}
			if takes, _ := flags(all).flag(args[i].text); takes && strings.HasPrefix(args[i].text, "-") {
				i++
			}
		}
		return "without " + one + " it may write"
	}
}

// onlyWords makes a judgement of a program that only reads with one of some
// words; "": also without any.
func onlyWords(words ...string) func([]word) string {
	return func(args []word) string {
		switch {
		case len(args) == 0 && slices.Contains(words, ""):
			return ""
		case len(args) == 1 && args[0].text != "" && slices.Contains(words, args[0].text):
			return ""
		}
		return "with these words it may write"
	}
}

// firstOf makes a judgement of a program that only reads if its first operand
// is one of some, whatever follows.
func firstOf(words ...string) func([]word) string {
	return func(args []word) string {
		if len(args) > 0 && slices.Contains(words, args[0].text) {
			return ""
		}
		return "only with one of " + strings.Join(words, ", ") + " first is it known to only read"
	}
}

// judgeSimple judges a program that reads its words as one text.
func judgeSimple(args []word) string {
	for _, a := range args {
		if strings.Trim(a.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") != "" || strings.HasPrefix(a.text, "-") {
			return shown(a) + " may be more than a word"
		}
	}
	return ""
}

// judgeNoURL refuses operands that a program may fetch.
func judgeNoURL(args []word) string {
	for _, a := range args {
		if strings.Contains(a.text, "://") || !a.fixed() && a.start() == "" {
			return shown(a) + " may be fetched"
		}
	}
	return ""
}

// judgePlainFiles refuses names of files that a program may take for more.
func judgePlainFiles(args []word) string {
	for _, a := range args {
		if strings.HasPrefix(a.text, "-") {
			continue
		}
		if !a.fixed() || strings.Trim(a.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") != "" {
			return shown(a) + " may be more than the name of a file"
		}
	}
	return ""
}

// judgeNoValue refuses NAME=VALUE, which writes.
func judgeNoValue(args []word) string {
	for _, a := range args {
		if !a.fixed() || strings.Contains(a.text, "=") {
			return shown(a) + " may write"
		}
	}
	return ""
}

// judgeSmart judges smartctl: a log with values behind it sets them.
func judgeSmart(args []word) string {
	for i, a := range args {
		log := strings.HasPrefix(a.text, "-l") || strings.HasPrefix(a.text, "--log=") || i > 0 && (args[i-1].text == "-l" || args[i-1].text == "--log")
		if log && (!a.fixed() || strings.Contains(a.text, "sct")) {
			return shown(a) + " may set how the disk works"
		}
	}
	return ""
}

// judgeNoResponse refuses @FILE, from which a program reads more flags.
func judgeNoResponse(args []word) string {
	for _, a := range args {
		if strings.HasPrefix(a.text, "@") {
			return a.text + " holds more flags"
		}
	}
	return ""
}

// judgePager refuses +COMMAND, which a pager runs when it begins.
func judgePager(args []word) string {
	for _, a := range args {
		if strings.HasPrefix(a.text, "+") || !a.fixed() && a.start() == "" {
			return shown(a) + " may be a command of the pager"
		}
	}
	return ""
}

// judgeDate judges date: an operand without + sets the clock.
func judgeDate(args []word) string {
	operands, why := flags("-uRj -I? -d: -r: -f: -v: --date= --file= --reference= --iso-8601? --rfc-3339= --rfc-email --rfc-2822 --utc --universal --debug").check(args)
	if why != "" {
		return why
	}
	for _, o := range operands {
		if !strings.HasPrefix(o.text, "+") {
			return shown(o) + " may set the clock"
		}
	}
	return ""
}

// judgeTput judges tput: what a terminal can do, not its setting up.
func judgeTput(args []word) string {
	for _, a := range args {
		if !a.fixed() || strings.HasPrefix(a.text, "-") || slices.Contains([]string{"init", "reset", "clear"}, a.text) {
			return shown(a) + " is not known to only read"
		}
	}
	return ""
}

// judgeMan judges man, which reads pages by their names, and any file by a path.
func judgeMan(args []word) string {
	operands, why := flags("-afkwWdiI -s: -e: --whatis --apropos --where --path --all --sections= --exact --regex --wildcard --long").check(args)
	if why != "" {
		return why
	}
	for _, o := range operands {
		if !o.fixed() || strings.ContainsAny(o.text, "/") {
			return shown(o) + " may be a file"
		}
	}
	return ""
}

// judgeSysctl judges sysctl: NAME=VALUE writes.
func judgeSysctl(args []word) string {
	operands, why := flags("-aAnNebq -r: --all --names --values --ignore --quiet --pattern=").check(args)
	if why != "" {
		return why
	}
	for _, o := range operands {
		if !o.fixed() || strings.Contains(o.text, "=") {
			return shown(o) + " may write"
		}
	}
	return ""
}

// judgePacman judges pacman: queries of what is installed, and of the lists
// that are there.
func judgePacman(args []word) string {
	if len(args) == 0 {
		return "without flags it is not known to only read"
	}
	for i, a := range args {
		switch {
		case !a.fixed():
			return shown(a) + " is only known when it runs"
		case i == 0 && strings.HasPrefix(a.text, "-Q") && strings.Trim(a.text[2:], "acdegiklmnopqstu") == "":
		case i == 0 && (a.text == "-T" || a.text == "-Dk" || a.text == "-Dkk" || a.text == "-Dkq"):
		case i == 0 && len(a.text) == 3 && a.text[0] == '-' && strings.IndexByte("QSRUTDF", a.text[1]) >= 0 && a.text[2] == 'h':
		case i == 0 && strings.HasPrefix(a.text, "-F") && strings.Trim(a.text[2:], "lqx") == "":
		case i == 0 && (strings.HasPrefix(a.text, "-Ss") || strings.HasPrefix(a.text, "-Si") || strings.HasPrefix(a.text, "-Sl") || strings.HasPrefix(a.text, "-Sg")) && strings.Trim(a.text[3:], "ilqsg") == "":
		case i == 0 && a.text == "--query":
		case i > 0 && slices.Contains([]string{"--info", "--list", "--explicit", "--deps", "--unrequired", "--owns", "--search", "--foreign", "--native", "--quiet", "--check", "--groups", "--upgrades", "--changelog"}, a.text):
		case i > 0 && !strings.HasPrefix(a.text, "-"):
		default:
			return "the flag " + a.text + " is not among those that only read"
		}
	}
	return ""
}

// judgeIP judges ip, bridge and tc: an object, and that it is to be shown.
func judgeIP(args []word) string {
	for len(args) > 0 && args[0].fixed() && strings.HasPrefix(args[0].text, "-") {
		switch args[0].text {
		case "-4", "-6", "-s", "-d", "-h", "-c", "-j", "-p", "-o", "-a", "-t", "-br", "-brief", "-color", "-json", "-pretty", "-oneline", "-details", "-stats", "-statistics", "-human", "-human-readable", "-timestamp", "--color", "--brief", "--json", "-V", "-Version":
		default:
			return "the flag " + args[0].text + " is not among those that only read"
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	switch args[0].text {
	case "a", "addr", "address", "l", "link", "r", "ro", "route", "n", "neigh", "neighbor", "neighbour", "rule", "ru", "maddr", "maddress", "mroute", "tunnel", "netns", "vrf", "netconf", "ntable", "addrlabel", "fdb", "mdb", "vlan", "qdisc", "class", "filter", "stats", "nexthop", "help":
	default:
		return shown(args[0]) + " is not among the objects that it only shows"
	}
	if len(args) == 1 {
		return ""
	}
	switch args[1].text {
	case "show", "list", "ls", "lst", "help":
		return ""
	case "get":
		if args[0].text == "r" || args[0].text == "ro" || args[0].text == "route" {
			return ""
		}
	}
	return shown(args[1]) + " may change the network"
}

// judgeIw judges iw.
func judgeIw(args []word) string {
	text := make([]string, len(args))
	for i, a := range args {
		if text[i] = a.text; !a.fixed() {
			return shown(a) + " is only known when it runs"
		}
	}
	switch {
	case len(text) == 1 && slices.Contains([]string{"dev", "list", "phy", "reg", "help"}, text[0]):
	case len(text) == 2 && text[0] == "reg" && text[1] == "get":
	case len(text) >= 3 && text[0] == "dev" && (text[2] == "info" || text[2] == "link") && len(text) == 3:
	default:
		return "with these words it is not known to only read"
	}
	return ""
}

// judgeFfprobe judges ffprobe, whose input may be fetched.
func judgeFfprobe(args []word) string {
	_, why := flags("~v= ~loglevel= ~hide_banner ~show_streams ~show_format ~show_entries= ~show_frames ~show_packets ~show_chapters ~select_streams= ~print_format= ~of= ~pretty ~count_frames ~count_packets ~sexagesimal ~unit ~i=").check(args)
	if why != "" {
		return why
	}
	for i, a := range args {
		// Only these have values in which a colon names no protocol.
		shows := i > 0 && (args[i-1].text == "-show_entries" || args[i-1].text == "-select_streams")
		if !a.fixed() && !strings.Contains(a.start(), "/") || strings.Contains(a.text, ":") && !shows || strings.Contains(a.text, "://") {
			return shown(a) + " may be fetched"
		}
	}
	return ""
}
