package shell

// table is what is known of programs that can be used to read. It is the
// specification of what is ReadOnly: whatever is not here is not.
//
// A program stands under reads only if none of its flags and operands, in any
// version that is in use, can write a file, run a program, signal a process or
// change the machine: then words that are computed when the line runs cannot
// either. All others have the list of their flags that only read, written out;
// no abbreviation of a long flag is in it. Left out on purpose, though people
// use them to read: what keeps a cache, a log or settings of its own (npm, apt,
// brew, gpg, blkid, top, gofmt), what may fetch what it lacks (go, cargo, tldr), what asks a
// server by credentials (kubectl, gh, aws), what runs what it reads (ldd, make).
func table(name string) row {
	switch name {
	// The shell's own.
	case ":", "true", "false", "echo", "pwd", "times", "help", "type", "caller", "dirs", "cd", "exit", "return", "break", "continue", "sleep":
		return reads()
	case "test", "[":
		return row{listed: true, judge: judgeTest}
	case "printf":
		return row{listed: true, judge: judgePrintf}
	case "read":
		return row{listed: true, judge: judgeRead}
	case "unset":
		return row{listed: true, judge: judgeUnset}
	case "set":
		return row{listed: true, judge: judgeSet}
	case "shopt":
		return row{listed: true, judge: judgeShopt}
	case "alias", "trap", "umask", "enable":
		return flags("-pS :0")
	case "hash", "history":
		return flags(":0")
	case "jobs":
		return flags("-lnprs :0")
	case "ulimit":
		return flags("-abcdefHilmnpqrStTuvx :0")
	case "kill":
		return row{listed: true, judge: judgeKill}
	case "compgen":
		return flags("-abcdefgjksuv -A: :1")
	case "command":
		return row{listed: true, runs: runsCommand}
	case "builtin", "nice", "timeout", "stdbuf", "ionice", "env":
		return row{listed: true, runs: runsOther(name)}

	// Texts and files.
	case "cat", "tac", "head", "tail", "wc", "nl", "od", "fmt", "fold", "expand", "unexpand", "cut", "paste", "join", "comm", "tr", "pr", "rev", "column", "colrm", "col", "look", "tsort", "numfmt":
		return reads()
	case "cksum", "sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "b3sum", "shasum", "md5", "crc32", "cmp", "diff", "hexdump", "hd", "strings":
		return reads()
	case "ls", "dir", "vdir", "stat", "du", "df", "basename", "dirname", "readlink", "realpath", "pathchk", "lsattr", "getfacl", "getfattr", "getcap", "eza", "exa", "lsd", "dust", "duf", "namei", "dircolors", "fincore":
		return reads()
	case "grep", "egrep", "fgrep", "jq", "locate", "plocate", "mlocate", "figlet", "seq", "yes", "expr", "factor", "bc", "cal", "ncal", "tokei", "csvlook", "csvcut", "csvgrep", "csvstat":
		return reads()
	case "zipinfo", "lsar", "pdfinfo", "pdffonts", "readelf", "eu-readelf", "size", "c++filt", "addr2line", "objdump":
		return reads()
	case "diffstat": // it unpacks files by a line for a shell
		return row{listed: true, flags: "-bcCEhklmqRstTuUvV -f: -n: -N: -p: -r: -w:", judge: judgePlainFiles}
	case "sed":
		return row{listed: true, judge: judgeSed}
	case "awk", "gawk", "mawk", "nawk":
		return row{listed: true, judge: judgeAwk}
	case "find":
		return row{listed: true, judge: judgeFind}
	case "sort":
		return flags("-bcCdfghiMmnRrsuVz -k: -t: -S: --key= --field-separator= --buffer-size= --reverse --unique --numeric-sort --general-numeric-sort --human-numeric-sort --version-sort --month-sort --random-sort --ignore-case --ignore-leading-blanks --ignore-nonprinting --dictionary-order --stable --check? --merge --zero-terminated --sort= --parallel= --debug")
	case "shuf":
		return flags("-erz -i: -n: --echo --repeat --zero-terminated --input-range= --head-count=")
	case "uniq":
		return flags("-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --group? --ignore-case --unique --zero-terminated --skip-fields= --skip-chars= --check-chars= :1")
	case "base64", "base32", "basenc":
		return flags("-diD -w: --decode --ignore-garbage --wrap= :1")
	case "xxd":
		return flags("-abeEipPu -c: -g: -l: -n: -o: -s: ~cols= ~len= ~seek= ~bits ~plain ~ps ~postscript ~uppercase ~include ~autoskip :1")
	case "file":
		return flags("-bEhiIkLNnrsvzZ0 -e: -f: -F: -m: -P: --brief --mime --mime-type --mime-encoding --extension --dereference --no-dereference --keep-going --no-pad --raw --special-files --uncompress --print0 --separator= --files-from= --magic-file=")
	case "tree":
		return flags("-adflxipqNQsughDFrtcvUnCASJX -L: -P: -I: -H: -T: --dirsfirst --filesfirst --noreport --prune --du --si --inodes --device --gitignore --ignore-case --matchdirs --sort? --charset= --filelimit= --timefmt= --metafirst --filesfirst")
	case "ul":
		return flags("-i -t: -T:")
	case "less", "more":
		return row{listed: true, flags: "-eEFgiImMnNqrRsSXcdflpu -# -x: --chop-long-lines --LINE-NUMBERS --line-numbers --RAW-CONTROL-CHARS --raw-control-chars --no-init --quit-if-one-screen --squeeze-blank-lines", judge: judgePager}
	case "bat", "batcat":
		return flags("-pAnP -r: -H: -l: --plain --number --show-all --language= --line-range= --highlight-line= --style= --color= --paging= --theme= --decorations= --wrap= --tabs= --terminal-width= --list-languages --list-themes")
	case "rg", "ripgrep":
		return flags("-abcFHhiILlNnoPpqSsUuvVwx0. -A: -B: -C: -d: -E: -e: -f: -g: -j: -M: -m: -r: -T: -t: --after-context= --before-context= --context= --case-sensitive --ignore-case --smart-case --color= --colors= --column --count --count-matches --crlf --encoding= --engine= --files --files-with-matches --files-without-match --fixed-strings --follow --glob= --iglob= --heading --no-heading --hidden --ignore-file= --invert-match --json --line-number --no-line-number --line-regexp --max-columns= --max-count= --max-depth= --max-filesize= --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-vcs --no-messages --null --null-data --only-matching --passthru --pcre2 --pretty --quiet --regexp= --replace= --sort= --sortr= --stats --text --threads= --trim --type= --type-list --type-not= --unrestricted --vimgrep --with-filename --word-regexp --block-buffered --line-buffered --debug")
	case "ag":
		return flags("-acfgiLlnopQrSsuUvwz0 -A: -B: -C: -G: -m: --ackmate --after= --before= --context= --case-sensitive --count --depth= --files-with-matches --files-without-matches --fixed-strings --follow --hidden --ignore= --ignore-case --invert-match --literal --max-count= --nocolor --nogroup --nonumbers --numbers --nofilename --only-matching --smart-case --stats --unrestricted --vimgrep --word-regexp --null --column --list-file-types")
	case "ugrep": // ug reads a configuration of the folder, which may name programs
		return flags("-abcEFGHhiILlNnoPqRrsTUuvwxyZ0 -A: -B: -C: -e: -f: -g: -m: -t: -O: --after-context= --before-context= --context= --count --files-with-matches --files-without-match --fixed-strings --ignore-case --include= --exclude= --invert-match --line-number --only-matching --recursive --word-regexp --line-regexp --perl-regexp --smart-case --hidden --glob= --file-type= --max-count= --color? --null --regexp=")
	case "fd", "fdfind":
		return flags("-HIusipLa0gFl1q -d: -t: -e: -E: -S: -o: -c: -j: --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --exclude= --type= --extension= --size= --changed-within= --changed-before= --owner= --color= --max-results= --quiet --show-errors --base-directory= --path-separator= --search-path= --strip-cwd-prefix --one-file-system")
	case "nm":
		return row{listed: true, flags: "-aABCDgnoPprSsuvlxWU -f: -t: --defined-only --undefined-only --extern-only --dynamic --demangle? --print-size --size-sort --numeric-sort --no-sort --reverse-sort --print-file-name --line-numbers --debug-syms --no-demangle", judge: judgeNoResponse}
	case "yq":
		return flags("-rPeCMNnj -o: -p: -I: --raw-output --prettyPrint --exit-status --colors --no-colors --no-doc --null-input --tojson --output-format= --input-format= --indent= --unwrapScalar? --yaml-output")
	case "xmllint":
		return row{listed: true, flags: "--xpath= --noout --format --nonet --recover --html --nsclean --noblanks --encode= --pretty= --debug", judge: judgeNoURL}
	case "iconv":
		return flags("-f: -t: -csl --from-code= --to-code= --list --silent")
	case "sdiff":
		return flags("-ailsbBEdHtWZ -w: --width= --suppress-common-lines --left-column --ignore-case --ignore-all-space --text --minimal --strip-trailing-cr :2")
	case "diff3":
		return flags("-AeExX3aimT -L: --show-all --ed --show-overlap --easy-only --text --merge --label= --strip-trailing-cr --initial-tab :3")
	case "colordiff":
		return flags("-abBcdeEiNnpqrstTuwyZ -U: -C: -W: -x: -I: --unified? --context? --recursive --brief --side-by-side --width= --ignore-case --ignore-all-space --color? :2")
	case "wdiff":
		return flags("-123Ccisp --statistics --no-common --no-deleted --no-inserted --ignore-case :2")
	case "zcat", "gzcat", "bzcat", "xzcat", "lzcat", "zstdcat", "lz4cat":
		return flags("-fkqvl")
	case "zgrep", "zegrep", "zfgrep", "xzgrep", "bzgrep":
		return flags("-abcEFGHhiLlnoPqsvwx -A: -B: -C: -e: -m: --ignore-case --count --line-number --with-filename --no-filename --invert-match --word-regexp --fixed-strings --extended-regexp --only-matching --context=")
	case "zdiff", "zcmp", "xzdiff", "xzcmp":
		return flags("-abBciqsuwy --brief --unified --side-by-side --ignore-case :2")
	case "zless", "zmore", "bzless", "xzless":
		return row{listed: true, flags: ":9", judge: judgePager}
	case "gzip", "gunzip", "pigz", "unpigz", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lzma", "unlzma":
		return row{listed: true, judge: judgeCompress}
	case "tar", "bsdtar", "gtar":
		return row{listed: true, judge: judgeTar}
	case "jar":
		return row{listed: true, judge: judgeJar}
	case "unzip":
		return row{listed: true, judge: judgeUnzip}
	case "cpio":
		return row{listed: true, judge: judgeCpio}
	case "7z", "7za", "7zr", "unrar", "rar":
		return row{listed: true, subs: true}
	case "7z l", "7za l", "7zr l", "7z t", "7za t", "7zr t", "unrar l", "unrar lb", "unrar lt", "unrar v", "unrar vb", "unrar t", "rar l", "rar v":
		return flags("")
	case "ar":
		return row{listed: true, judge: judgeAr}
	case "pdftotext":
		return row{listed: true, judge: judgeToStdout}
	case "pdfimages":
		return row{listed: true, judge: needs("-list", "~list -f: -l: :1")}
	case "isosize":
		return flags("-x -d: --divisor= --sectors")
	case "transmission-show", "md5deep", "sha1deep", "sha256deep", "zipdetails":
		return flags("")
	case "mediainfo":
		return row{listed: true, flags: "-f", judge: judgeNoURL}
	case "edid-decode": // a second operand is written
		return flags(":1")
	case "exiftool": // it has run names of files that end with |
		return row{listed: true, flags: "-agGsSjTtbEhn ~json ~csv ~xml ~common ~all ~list ~ver", judge: judgePlainFiles}
	case "ffprobe":
		return row{listed: true, remote: true, judge: judgeFfprobe}
	case "openssl":
		return row{listed: true, subs: true}
	case "openssl version", "openssl ciphers":
		return flags("-abdefmprv ~stdname ~tls1 ~tls1_2 ~tls1_3 ~s :1")
	case "openssl x509", "openssl req", "openssl crl", "openssl pkcs7", "openssl asn1parse":
		return flags("~in= ~inform= ~noout ~text ~subject ~issuer ~dates ~startdate ~enddate ~fingerprint ~serial ~pubkey ~modulus ~purpose ~email ~hash ~issuer_hash ~subject_hash ~verify ~sha1 ~sha256 ~print_certs ~nameopt= ~ext= ~checkend= ~alias ~ocspid ~ocsp_uri ~nocert ~dump ~i ~strparse= ~crlnumber ~lastupdate ~nextupdate :0")
	case "openssl dgst", "openssl md5", "openssl sha1", "openssl sha256", "openssl sha512":
		return flags("~md5 ~sha1 ~sha224 ~sha256 ~sha384 ~sha512 ~sha3-256 ~sha3-512 ~hex ~binary ~r ~c ~blake2b512 ~list")
	case "ssh-keygen":
		return row{listed: true, judge: needs("-l", "-lvB -E: -f: :0")}
	case "ssh-add":
		return row{listed: true, judge: needs("-l", "-lLv :0")}
	case "man", "whatis", "apropos":
		return row{listed: true, judge: judgeMan}
	case "whereis", "which":
		return flags("-abmsBMSful -# --all --skip-alias --skip-functions --show-dot --show-tilde --tty-only")
	case "tput":
		return row{listed: true, judge: judgeTput}
	case "stty":
		return row{listed: true, judge: onlyWords("", "-a", "-g", "--all", "--save", "size", "speed")}
	case "cowsay", "cowthink", "banner", "units", "mimetype", "toilet":
		return flags("-abcdegnpstwy --all --brief --version --terse --verbose")
	case "git":
		return row{listed: true, subs: true, flags: "-C: -P --no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --icase-pathspecs --no-replace-objects"}
	}
	if r := gitTable(name); r.listed {
		return r
	}
	return machineTable(name)
}

// reads is the row of a program that can only read.
func reads() row { return row{listed: true, any: true} }

// flags is the row of a program with flags that only read.
func flags(list string) row { return row{listed: true, flags: list} }
