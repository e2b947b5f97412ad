package shell

import (
	"slices"
	"strings"
)

// moreTable is what is known of programs that are not on every machine.
func moreTable(name string) row {
	switch name {
	// Filters and viewers that have no flag for a file to write.
	case "tsv-filter", "tsv-select", "tsv-summarize", "tsv-join", "tsv-uniq", "tsv-sample", "tsv-pretty", "tsv-append", "csv2tsv", "csvsort", "csvjoin", "csvstack", "csvformat", "csvjson", "datamash", "choose", "jtbl", "jp", "pup", "hexyl", "tidy-viewer", "difft", "icdiff", "shellcheck", "rig", "pwgen", "mcookie", "figlist", "showfigfonts", "chafa", "viu", "catimg", "pridecat",
		"dateadd", "datediff", "dateseq", "dategrep", "dateconv", "dateround", "datesort", "systemd-escape", "systemd-delta", "sesearch", "seinfo", "getsebool", "cpufreq-info", "pacconf", "paclog", "paccheck", "pacsift", "pfetch", "iwinfo", "grub-file", "pw-dump",
		"pg_config", "llvm-config", "cups-config", "xml2-config", "xslt-config", "sdl2-config", "curl-config", "krb5-config", "pcre2-config", "gpg-error-config", "python3-config", "python-config", "freetype-config":
		return reads()
	case "fortune", "lolcat":
		return reads()
	case "bfs":
		return row{listed: true, judge: judgeFind}
	case "diff-so-fancy":
		return flags(":0")
	case "in2csv":
		return flags("-HIlnt -d: -e: -f: -k: -s: -y: --delimiter= --encoding= --format= --key= --names --no-header-row --no-inference --sheet= --tabs")
	case "uuidgen": // by the time it keeps its clock in a file
		return flags("-rms -n: -N: --random --md5 --sha1 --name= --namespace=")
	case "pycodestyle", "pydocstyle":
		return flags("-qrv --first --show-source --show-pep8 --statistics --count --verbose --quiet --max-line-length= --max-doc-length= --select= --ignore= --exclude= --format= --convention= --match= --source --explain --testsuite=")
	case "yamllint":
		return flags("-s -f: -c: -d: --format= --strict --config-file= --config-data= --no-warnings --list-files")
	case "pkg-config", "pkgconf":
		return flags("--cflags --cflags-only-I --cflags-only-other --libs --libs-only-l --libs-only-L --libs-only-other --exists --modversion --list-all --list-package-names --variable= --print-variables --print-errors --print-provides --print-requires --atleast-version= --exact-version= --max-version= --static --short-errors --silence-errors")
	case "scc":
		return flags("-acpvw -f: -i: -s: -n: --by-file --format= --ci --no-cocomo --no-complexity --sort= --include-ext= --exclude-dir= --wide --languages --verbose")
	case "cloc":
		return flags("--by-file --by-file-by-lang --exclude-dir= --exclude-lang= --include-lang= --include-ext= --json --csv --md --quiet --hide-rate --show-lang --skip-uniqueness")
	case "tre":
		return flags("-adj -l: -E: --all --directories --json --limit= --exclude= --simple")
	case "procs":
		return flags("-ta --tree --color= --sorta= --sortd= --and --or --no-header --insert=")
	case "dutree", "dfc", "fastfetch", "macchina", "kpsewhich", "zipnote", "findfs", "mmls", "fsstat", "lsinitrd", "lsinitramfs", "x_x", "hadolint":
		return flags("")
	case "ascii":
		return flags("-adxobetshv")
	case "dwdiff":
		return flags("-123cCisw --statistics --line-numbers? --no-common --ignore-case :2")
	case "htmlq":
		return flags("-tpwB -a: -f: -b: -r: --text --pretty --ignore-whitespace --attribute= --filename= --remove-nodes=")
	case "pdfgrep":
		return flags("-icHhnrRlLoqPFpv -A: -B: -C: -e: -m: --ignore-case --include= --exclude= --recursive --dereference-recursive --page-number? --count --max-count= --fixed-strings --perl-regexp --with-filename --no-filename --only-matching --context= --regexp=")
	case "rhash":
		return flags("-aCMHErv --crc32 --md4 --md5 --sha1 --sha224 --sha256 --sha384 --sha512 --sha3-224 --sha3-256 --sha3-384 --sha3-512 --blake2b --blake2s --all --message= --check --check-embedded --recursive --bsd --simple --list-hashes --speed --benchmark")
	case "exif":
		return flags("-mil -t: --tag= --ifd= --machine-readable --xml-output --list-tags --show-mnote --show-description --ids --no-fixup")
	case "metaflac":
		return row{listed: true, judge: needs("--list --show-all-tags --show-tag --show-md5sum --show-sample-rate --show-channels --show-bps --show-total-samples --show-vendor-tag", "--list --show-all-tags --show-tag= --show-md5sum --show-sample-rate --show-channels --show-bps --show-total-samples --show-vendor-tag --show-min-blocksize --show-max-blocksize --block-type= --block-number= --with-filename --no-filename")}
	case "mid3v2", "id3v2":
		return row{listed: true, judge: needs("-l -L --list --list-raw --list-genres --list-frames --list-rfc822 -R", "-lLR --list --list-raw --list-genres --list-frames --list-rfc822")}
	case "unsquashfs":
		return row{listed: true, judge: needs("-l -ll -lls -s -stat -lln", "~l ~ll ~lls ~lln ~s ~stat ~lc ~llc")}
	case "vmtouch":
		return flags("-vf")
	case "xbacklight":
		return row{listed: true, judge: onlyWords("", "-get", "-list")}
	case "xset":
		return row{listed: true, judge: onlyWords("q", "-q")}
	case "wmctrl":
		return row{listed: true, judge: needs("-l -d -m", "-lpGxmd :0")}
	case "screen":
		return row{listed: true, judge: onlyWords("-ls", "-list", "--version", "-v")}
	case "setarch":
		return row{listed: true, judge: onlyWords("--list", "--help", "--version")}
	case "systemd-sysusers", "systemd-tmpfiles":
		return row{listed: true, judge: onlyWords("--cat-config", "--help", "--version")}
	case "systemd-inhibit":
		return row{listed: true, judge: needs("--list", "--list --no-pager --no-legend :0")}
	case "choom":
		return flags("-p: --pid= :0")
	case "chrt":
		return row{listed: true, judge: needs("-p -m --pid --max", "-apm --all-tasks --pid --max :1")}
	case "taskset":
		return row{listed: true, judge: needs("-p --pid", "-pca --pid --cpu-list --all-tasks :1")}
	case "sar":
		return flags("-AbBdFHhqrSuvwWyz -n: -P: -f: -s: -e: -i: -I: -m: --human --pretty")
	case "pidstat":
		return flags("-dhHIlrRsStuUvVw -p: -C: -G: -T: --human")
	case "vnstat":
		return flags("-hdwmytsqb -i: --iface= --hours --days --weeks --months --years --top? --hoursgraph --fiveminutes --json? --xml? --oneline --short --query --dbiflist --iflist :0")
	case "v4l2-ctl":
		return flags("-lLDV -d: --device= --all --info --list-devices --list-formats --list-formats-ext --list-formats-out --list-framesizes= --list-frameintervals= --list-ctrls --list-ctrls-menus --list-inputs --list-outputs --get-fmt-video --get-ctrl= --get-input --get-standard :0")
	case "postconf":
		return row{listed: true, flags: "-aAdhlmnpTx -c: -C:", judge: judgeNoValue}
	case "ntpctl":
		return flags("-s: :0")
	case "setserial":
		return row{listed: true, judge: needs("-g", "-gabGv")}
	case "aplay", "arecord":
		return row{listed: true, judge: needs("-l -L --list-devices --list-pcms", "-lL --list-devices --list-pcms :0")}
	case "aconnect":
		return flags("-lio --list --input --output :0")
	case "pw-link":
		return row{listed: true, judge: needs("-l -o -i --links --output --input", "-loiIt --links --output --input --id --latency :0")}
	case "pw-metadata":
		return row{listed: true, judge: onlyWords("", "-l", "--list")}
	case "pamixer":
		return flags("--get-volume --get-volume-human --get-mute --list-sinks --list-sources --get-default-sink :0")
	case "mmcli":
		return flags("-LB --list-modems --version :0")
	case "pkgfile":
		return flags("-lbsvirgdqw -R: --list --binaries --search --verbose --glob --regex --raw --quiet")
	case "javap":
		return row{listed: true, judge: judgeNoResponse, flags: "-clspv ~public ~protected ~package ~private ~constants ~sysinfo ~verbose ~version ~help ~cp= ~classpath="}
	case "jps":
		return flags("-qmlvV :0")
	case "bind":
		return flags("-lpPsSvV :0")
	case "mpicc", "mpicxx", "mpic++", "mpifort", "mpijavac":
		return row{listed: true, judge: onlyWords("--showme", "--showme:compile", "--showme:link", "--showme:command", "--showme:version", "--version", "--help")}
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran":
		return row{listed: true, judge: onlyWords("-v", "--version", "--help", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-print-search-dirs", "-print-multiarch", "-print-sysroot", "-print-libgcc-file-name")}
	case "python", "python2", "python3", "deno", "tmux", "ssh": // -v makes them say more of what they do
		return row{listed: true, judge: onlyWords("-V", "--version", "--help")}
	case "node", "nodejs", "ruby", "perl", "php", "lua", "nginx":
		return row{listed: true, judge: onlyWords("-V", "-v", "--version", "--help")}
	case "java", "javac":
		return row{listed: true, judge: onlyWords("-version", "--version", "--help")}
	case "qemu-system-x86_64", "qemu-system-i386", "qemu-system-aarch64", "qemu-system-arm", "qemu-system-riscv64":
		return row{listed: true, judge: judgeQemu}
	case "lxc-ls", "lxc-info", "lxc-checkconfig":
		return flags("-f1 -n: -S -s -p -i -H --fancy --name= --state --pid --ips --no-humanize --active --running --stopped --frozen")

	// Programs with commands of their own.
	case "keyctl", "udisksctl", "uci", "bluetoothctl", "boltctl", "cpupower", "ddcutil", "dkms", "qm", "pct", "pvesm", "pvecm", "rpm-ostree", "ostree", "rbenv", "pyenv", "nodenv", "exenv", "goenv", "plenv", "phpenv", "systemd-hwdb", "systemd-sysext", "systemd-confext", "tpm2", "bpftool", "conda", "mamba", "gem", "qemu-img", "amixer", "duc":
		return row{listed: true, subs: true}
	case "keyctl list", "keyctl show", "keyctl describe", "keyctl rdescribe", "keyctl print", "keyctl pipe", "uci show", "uci get", "bluetoothctl list", "bluetoothctl show", "bluetoothctl devices", "bluetoothctl info", "boltctl list", "boltctl info", "boltctl domains",
		"cpupower frequency-info", "cpupower idle-info", "cpupower info", "ddcutil detect", "ddcutil capabilities", "ddcutil getvcp", "ddcutil environment", "dkms status", "qm list", "qm status", "qm config", "qm help", "pct list", "pct status", "pct config", "pvesm status", "pvesm list", "pvecm status", "pvecm nodes", "rpm-ostree status", "ostree log", "ostree show", "ostree refs", "ostree ls",
		"systemd-hwdb query", "systemd-sysext ", "systemd-sysext status", "systemd-sysext list", "systemd-confext ", "systemd-confext status", "systemd-confext list", "tpm2 pcrread", "tpm2 getcap", "amixer ", "amixer get", "amixer sget", "amixer scontrols", "amixer scontents", "amixer controls", "amixer contents", "duc ls", "duc info":
		return flags("-abFgilrRvx -d: -p: --all --repo= --display= --verbose --json --pending-exit-77 --classify --graph --recursive --terse --brief")
	case "udisksctl info", "udisksctl status", "udisksctl dump":
		return flags("-b: -d: -p: --block-device= --drive= --object-path=")
	case "rbenv version", "rbenv versions", "rbenv which", "pyenv version", "pyenv versions", "nodenv version", "nodenv versions", "exenv version", "exenv versions", "goenv version", "goenv versions", "plenv version", "plenv versions", "phpenv version", "phpenv versions":
		return flags("--bare --skip-aliases :1")
	case "bpftool prog", "bpftool map", "bpftool link", "bpftool net", "bpftool cgroup", "bpftool btf":
		return row{listed: true, subs: true}
	case "bpftool prog list", "bpftool prog show", "bpftool map list", "bpftool map show", "bpftool link list", "bpftool link show", "bpftool net list", "bpftool net show", "bpftool cgroup list", "bpftool cgroup show", "bpftool cgroup tree", "bpftool btf list", "bpftool btf show":
		return flags("-jp --json --pretty")
	case "conda list", "conda info", "conda compare", "mamba list", "mamba info":
		return flags("-aceE -n: -p: --all --envs --name= --prefix= --json --explicit --export --base --system --full-name --show-channel-urls")
	case "gem list", "gem environment", "gem env", "gem contents", "gem which":
		return flags("-aldi --all --local --details --installed --versions --no-versions --exact")
	case "qemu-img info", "qemu-img map", "qemu-img compare", "qemu-img measure":
		return row{listed: true, remote: true, flags: "-pqs -f: -F: -U --output= --force-share", judge: judgeNoURL}
	case "git clean":
		return row{listed: true, judge: needs("-n --dry-run", "-ndqxX -e: --dry-run --quiet --exclude=")}
	case "git bundle":
		return row{listed: true, subs: true}
	case "git bundle verify", "git bundle list-heads":
		return flags("-q --quiet")
	case "pip config", "pip3 config":
		return row{listed: true, subs: true}
	case "pip config list", "pip config get", "pip config debug", "pip3 config list", "pip3 config get", "pip3 config debug":
		return flags("--user --global --site :1")
	case "systemctl log-level", "systemctl log-target":
		return flags(":0")
	case "systemctl service-log-level", "systemctl service-log-target":
		return flags(":1")
	case "docker node inspect", "docker service inspect", "docker service ps", "docker stack ps", "docker stack services", "docker config inspect", "docker secret inspect", "docker plugin inspect", "docker node ps":
		return row{listed: true, remote: true, flags: "-q -f: --pretty --format= --filter= --no-trunc --quiet --follow --tail= --timestamps --since="}
	case "openssl rand", "openssl prime", "openssl list", "openssl errstr", "openssl verify", "openssl pkey", "openssl rsa", "openssl ec":
		return flags("~hex ~base64 ~in= ~inform= ~noout ~text ~text_pub ~check ~modulus ~pubin ~pubout ~CAfile= ~CApath= ~untrusted= ~show_chain ~verbose ~digest-commands ~cipher-commands ~cipher-algorithms ~digest-algorithms ~providers ~generate ~bits=")
	}
	if isNetpbm(name) {
		return flags("~version ~verbose ~quiet ~plain ~quartile ~transparent ~headerdump ~map ~time :1")
	}
	return row{}
}

// judgeQemu judges qemu-system: only lists of what it can emulate.
func judgeQemu(args []word) string {
	if len(args) == 1 && asksHelp(args[0].text) {
		return ""
	}
	if len(args) == 2 && args[1].text == "help" && slices.Contains([]string{"-machine", "-M", "-cpu", "-device", "-accel", "-netdev", "-audio", "-display"}, args[0].text) {
		return ""
	}
	return "runs a machine"
}

// isNetpbm reports whether a program is one of Netpbm's that make one picture of
// another, from a file to standard output.
func isNetpbm(name string) bool {
	switch name {
	case "pamfile", "pnmfile", "ppmhist", "pgmhist", "pnmflip", "pamflip", "pnmscale", "pamscale", "pamcut", "pnmcut", "pnmcrop", "pnmpad", "pnminvert", "pnmgamma", "pnmrotate", "pnmhisteq", "pnmsmooth", "ppmchange", "ppmdim", "ppmflash", "ppmbrighten", "pamenlarge", "pamdepth", "pnmdepth", "ppmquant", "pnmconvol", "pgmedge", "ppmrelief", "ppmspread", "ppmshift", "pbmreduce", "pgmenhance", "ppmdist", "ppmntsc":
		return true
	case "ppmtotga", "ppmtompeg", "pnmtofiasco", "ppmtoyuvsplit", "pamtompng", "anytopnm", "ppmtoicr", "ppmtowinicon", "winicontoppm", "winicontopam", "pstopnm", "ppmtoneo":
		return false // write files, or run others
	}
	from, to, ok := strings.Cut(name, "to")
	const formats = " pbm pgm ppm pnm pam "
	return ok && from != "" && to != "" && strings.Trim(from+to, "abcdefghijklmnopqrstuvwxyz0123456789") == "" &&
		(strings.Contains(formats, " "+from+" ") || strings.Contains(formats, " "+to+" "))
}
