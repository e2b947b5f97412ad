package shell

// readerFlags are the flags of a program that reads the operands it has and no
// other files: none names a file, or makes it read what a file lists, and none
// takes its value from the next word on some machines only. The
// zero row is a program of which nothing is known.
func readerFlags(name string) row {
	switch name {
	case "date":
		return flags("-uRj -I? -d: -v: --date= --iso-8601? --rfc-3339= --rfc-email --rfc-2822 --utc --universal")
	case "tr":
		return flags("-cCdst --complement --delete --squeeze-repeats --truncate-set1")
	case "cat":
		return flags("-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting")
	case "tac":
		return flags("-br -s: --before --regex --separator=")
	case "wc":
		return flags("-clmwL --bytes --chars --lines --words --max-line-length --total=")
	case "nl":
		return flags("-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w:")
	case "md5sum", "sha1sum", "sha256sum", "sha512sum":
		return flags("-btz --binary --text --tag --zero")
	case "cksum":
		return flags("-z --tag --zero")
	case "stat":
		return flags("-Lft -c: --dereference --file-system --terse --format= --printf=")
	case "file":
		return flags("-bhiLkNnrsz0 -e: -F: -P: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --no-pad --raw --print0 --separator=")
	case "cmp":
		return flags("-bls --print-bytes --verbose --silent --quiet")
	case "diff":
		return flags("-abBcdeEiNnpqrstTuwyZ -U: -C: -W: -x: -I: -L: --brief --unified? --context? --side-by-side --recursive --new-file --text --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --strip-trailing-cr --suppress-common-lines --report-identical-files --color? --width= --exclude= --label= --minimal")
	case "readlink":
		return flags("-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero")
	case "realpath":
		return flags("-emLPqsz")
	case "head":
		return flags("-qvz -# -n: -c: --lines= --bytes= --quiet --silent --verbose --zero-terminated")
	case "tail":
		return flags("-fFqrvz -# -n: -c: --lines= --bytes= --follow? --retry --pid= --quiet --silent --verbose --zero-terminated --sleep-interval=")
	case "uniq":
		return flags("-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --group? --ignore-case --unique --zero-terminated --skip-fields= --skip-chars= --check-chars=")
	case "sort":
		return flags("-bcCdfghiMmnRrsuVz -k: -t: -S: --key= --field-separator= --reverse --unique --numeric-sort --general-numeric-sort --human-numeric-sort --version-sort --month-sort --ignore-case --ignore-leading-blanks --dictionary-order --stable --check? --merge --zero-terminated --sort=")
	case "rev":
		return flags("-V")
	case "strings":
		return flags("-af -# -n: -t: -e: --all --bytes= --radix= --encoding= --print-file-name")
	case "hexdump":
		return flags("-bcCdovx -n: -s: -e: --canonical --length= --skip= --no-squeezing")
	case "od":
		return flags("-abcdfilosvx -A: -j: -N: -t: --address-radix= --skip-bytes= --read-bytes= --format= --output-duplicates")
	case "xxd":
		return flags("-abeEipPu -c: -g: -l: -o: -s: ~cols= ~len= ~seek= ~bits ~plain ~ps ~postscript ~uppercase ~include ~autoskip")
	case "base64":
		return flags("-dD -w: --decode --ignore-garbage --wrap=")
	case "less", "more":
		return flags("-eEFgiImMnNqrRsSXcdflpu -# --chop-long-lines --LINE-NUMBERS --line-numbers --RAW-CONTROL-CHARS --raw-control-chars --no-init --quit-if-one-screen --squeeze-blank-lines")
	case "grep", "egrep", "fgrep":
		return flags("-abcEFGHhiIlLnoPqrRsTUvwxyZz -# -A: -B: -C: -m: -e: --after-context= --before-context= --context? --max-count= --regexp= --include= --exclude= --exclude-dir= --color? --colour? --binary-files= --label= --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --word-regexp --line-regexp --count --files-with-matches --files-without-match --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --initial-tab --null --null-data --text --invert-match --recursive --dereference-recursive --line-buffered")
	case "ls", "dir", "vdir":
		return flags("-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --author --escape --classify? --color? --directory --dereference --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --hide= --ignore= --indicator-style= --inode --literal --numeric-uid-gid --quote-name --quoting-style= --recursive --reverse --size --sort= --time= --time-style= --width= --context --zero")
	case "du":
		return flags("-abchHkLlmPsSx0 -d: --all --apparent-size --bytes --total --dereference --human-readable --si --max-depth= --null --one-file-system --separate-dirs --summarize --exclude= --time? --time-style= --threshold= --inodes --block-size=")
	case "tree":
		return flags("-adflxipqNQsughDFrtcvUnCASJX -L: -P: -I: --dirsfirst --filesfirst --noreport --prune --du --si --inodes --device --ignore-case --matchdirs --sort? --charset= --filelimit= --timefmt= --metafirst")
	}
	return row{}
}

// printsOnly reports whether a program reads no files, whatever its words.
func printsOnly(name string) bool {
	switch name {
	case "echo", "printf", "true", "false", ":", "pwd", "seq", "id", "whoami", "uname", "basename", "dirname", "sleep", "uptime", "nproc", "arch", "expr", "yes", "exit", "type", "which", "printenv":
		return true
	}
	return false
}

// writerFlags are the flags of a program that writes the files it names and no
// others.
func writerFlags(name string) (string, bool) {
	switch name {
	case "rm":
		return "rRfidv-", true
	case "mkdir", "rmdir":
		return "pv-", true
	case "touch":
		return "acm-", true
	case "cp":
		return "rRafpvnuiLPd-", true
	case "mv":
		return "fivnu-", true
	case "tee":
		return "ai-", true
	case "unlink":
		return "-", true
	}
	return "", false
}
