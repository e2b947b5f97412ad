package shell

// machineTable is what is known of programs that show the state of the machine.
func machineTable(name string) row {
	switch name {
	// Who and what.
	case "id", "whoami", "groups", "logname", "users", "w", "tty", "uname", "arch", "nproc", "uptime", "printenv", "getconf", "locale", "lsb_release", "systemd-detect-virt", "systemd-path", "ac", "getenforce", "sestatus", "runlevel":
		return reads()
	case "who", "pinky", "hostid": // may look names up
		return row{listed: true, any: true, remote: true}
	case "pmap": // -N writes a file of settings
		return flags("-dpqxX -A: --device --extended --quiet --range= --show-path")
	case "ps", "pidof", "pstree", "pwdx", "free", "vmstat", "mpstat", "iostat", "lsblk", "lscpu", "lsmem", "lsns", "lsipc", "lslocks", "lslogins", "lsmod", "lsusb", "lsfd", "lsdev", "findmnt", "modinfo", "ipcs", "quota", "repquota", "dumpe2fs", "numastat", "cpuid", "acpi", "lsirq", "uprecords", "lsscsi", "lsgpio", "systemd-cgls":
		return reads()
	case "date":
		return row{listed: true, judge: judgeDate}
	case "hostname":
		return row{listed: true, remote: true, flags: "-AdfiIsy --all-fqdns --all-ip-addresses --domain --fqdn --long --ip-address --short --yp --nis :0"}
	case "domainname", "nisdomainname":
		return flags(":0")
	case "dnsdomainname":
		return row{listed: true, remote: true, flags: ":0"}
	case "getent": // hosts and networks ask name servers
		return row{listed: true, judge: firstOf("passwd", "group", "shadow", "gshadow", "services", "protocols", "rpc", "ethers", "aliases", "initgroups", "netgroup")}
	case "last", "lastb":
		return flags("-aFiRwx -# -n: -f: -p: -s: -t: --hostlast --fulltimes --fullnames --ip --limit= --file= --nohostname --present= --since= --until= --system --time-format=")
	case "lastlog":
		return flags("-b: -t: -u: --before= --time= --user= :0")
	case "lastcomm":
		return flags("-p -f: --command= --user= --tty= --strict-match --print-controls")
	case "chage":
		return row{listed: true, judge: needs("-l --list", "-li --list --iso8601 :1")}
	case "passwd":
		return row{listed: true, judge: needs("-S --status", "-Sa --status --all :1")}
	case "crontab":
		return row{listed: true, judge: needs("-l", "-l -u: :0")}
	case "mailq":
		return flags(":0")
	case "atq", "lpq", "lpstat":
		return row{listed: true, remote: true, flags: "-aldrsteWv -p? -o? -c? -u?"}
	case "filefrag":
		return flags("-bevX")
	case "lstopo-no-graphics":
		return flags("-lpv --no-io --only= --physical --logical :0")

	// Processes.
	case "pgrep":
		return flags("-acfilnovwx -d: -g: -G: -P: -s: -t: -u: -U: -r: -O: --list-name --list-full --full --exact --newest --oldest --count --euid= --uid= --group= --parent= --session= --terminal= --ignore-case --inverse --delimiter= --runstates= --older=")
	case "lsof":
		return row{listed: true, remote: true, flags: "-abClnNoOPRtUvVwX -c: -d: -p: -u: -g? -i? -s? -F? -T? -L?"}
	case "fuser":
		return flags("-amuvV46cl -n: --all --mount --user --verbose --namespace= --list-signals")
	case "progress":
		return flags("-dqwmMh -c: -p: --monitor --wait --quiet")

	// Devices and file systems.
	case "lspci":
		return flags("-bDkmnPtvVx -d: -s: -i: -p:")
	case "lshw":
		return row{listed: true, remote: false, flags: "~short ~businfo ~json ~xml ~html ~sanitize ~numeric ~quiet ~notime ~class= ~C= ~c= ~disable= ~enable= :0"}
	case "dmidecode":
		return flags("-q -s: -t: -H: -u --quiet --string= --type= --handle= --dump --no-sysfs :0")
	case "mount":
		return row{listed: true, judge: onlyWords("", "-l")}
	case "swapon":
		return row{listed: true, judge: needs("-s --show --summary", "-s --show? --summary --noheadings --raw --bytes :0")}
	case "losetup":
		return flags("-al -j: -O: --all --list --associated= --json --raw --noheadings --output= :0")
	case "zramctl":
		return flags("-bn -o: --bytes --noheadings --raw --output= --output-all --json :1")
	case "tune2fs":
		return row{listed: true, judge: needs("-l", "-l :1")}
	case "e2label", "xfs_info", "fatlabel", "exfatlabel", "swaplabel", "ntfslabel", "dosfslabel":
		return flags(":1")
	case "smartctl":
		return row{listed: true, flags: "-aiHcAx -l: -d: -n: -q: --all --xall --info --health --capabilities --attributes --scan --scan-open --log= --device= --json? :1", judge: judgeSmart}
	case "lvs", "vgs", "pvs", "lvdisplay", "vgdisplay", "pvdisplay", "lvscan":
		return flags("-acmvCPt -o: -O: -S: --all --active --columns --colon --maps --noheadings --nosuffix --options= --sort= --select= --separator= --units= --unbuffered --segments --short --verbose --reportformat= --aligned --unquoted")
	case "sensors":
		return flags("-AujfJ --fahrenheit --no-adapter :1")
	case "upower":
		return flags("-ed -i: --enumerate --dump --show-info= --wakeups :0")
	case "nvidia-smi":
		return flags("~L ~q ~x ~i= ~d= --list-gpus --query --query-gpu= --query-compute-apps= --format= --id= --display= --loop= :0")
	case "inxi":
		return flags("-AbBCdDEfFGIjJlLmMnNopPrRsStuxzZ -v: -c: -y: --audio --basic --battery --bluetooth --cpu --disk --disk-full --filter --flags --full --graphics --info --label --logical --machine --memory --memory-short --network --network-advanced --optical --partition --partition-full --partitions-full --processes --raid --repos --sensors --slots --swap --system --unmounted --usb --uuid --extra --color= --width= :0")
	case "xrandr":
		return flags("-q --query --verbose --listmonitors --listactivemonitors --listproviders --current --prop --properties :0")
	case "xdpyinfo", "xlsclients", "xwininfo", "xlsfonts", "xlsatoms", "glxinfo", "vulkaninfo", "vainfo", "vdpauinfo", "eglinfo", "clinfo", "es2_info":
		return row{listed: true, remote: true, flags: "-aBlvs ~root ~id= ~name= ~queryExtensions ~tree ~children ~all ~stats --summary :1"}
	case "xprop":
		return row{listed: true, remote: true, flags: "~root ~id= ~name= ~len= ~notype"}
	case "setxkbmap":
		return row{listed: true, judge: needs("-query -print", "~query ~print ~verbose :0")}
	case "lvmconfig":
		return flags("--type= --typeconfig= --withcomments --withspaces --withsummary --withversions --list --valuesonly --unconfigured --atversion=")

	// Network, as this machine has it.
	case "ifconfig":
		return flags("-asv :1")
	case "iwconfig":
		return flags(":1")
	case "netstat":
		return row{listed: true, any: true, remote: true}
	case "ss":
		return row{listed: true, remote: true, flags: "-nralmoepisZ46tuwxdSHObBEMVhTz -A: -f: -F: -N: --numeric --resolve --all --listening --options --extended --memory --processes --threads --info --tos --cgroup --summary --context --contexts --bpf --events --tcp --udp --raw --unix --packet --dccp --sctp --tipc --vsock --xdp --mptcp --ipv4 --ipv6 --inet-sockopt --family= --query= --socket= --filter= --no-header --oneline --net= --no-queues"}
	case "arp":
		return row{listed: true, remote: true, flags: "-aenv -i: -H: -t: --verbose --numeric --device= :1"}
	case "route":
		return row{listed: true, remote: true, flags: "-nevFC46 --extend --numeric --verbose --fib --cache :0"}
	case "routel":
		return flags(":1")
	case "iptables", "ip6tables":
		return row{listed: true, remote: true, judge: needs("-L -S --list --list-rules", "-nvxLSw -t: --list --list-rules --line-numbers --numeric --verbose --exact --table= --wait? :2")}
	case "iptables-save", "ip6tables-save":
		return flags("-c -t: --counters --table= :0")
	case "ethtool":
		return flags("-iSkacgTPlmu --driver --statistics --show-features --show-offload --show-pause --show-coalesce --show-ring --show-time-stamping --show-permaddr --show-channels --module-info :1")
	case "firewall-cmd":
		return flags("--state --list-all --list-all-zones --list-services --list-ports --list-sources --list-interfaces --list-rich-rules --list-forward-ports --list-icmp-blocks --list-protocols --get-default-zone --get-active-zones --get-zones --get-services --get-icmptypes --get-zone-of-interface= --get-zone-of-source= --info-zone= --info-service= --zone= --permanent --query-service= --query-port= --query-masquerade --query-panic --policy= --get-policies --list-all-policies :0")
	case "ipcalc", "sipcalc":
		return row{listed: true, remote: true, flags: "-bcnhmpsi46a --broadcast --network --netmask --prefix --info --all --minaddr --maxaddr --addresses"}

	// Logs, packages, the kernel.
	case "dmesg":
		return flags("-dekHhLprSTtuwWxP -f: -l: -s: --color? --ctime --decode --facility= --follow --follow-new --force-prefix --human --json --kernel --level= --noescape --nopager --notime --raw --reltime --since= --show-delta --syslog --time-format= --until= --userspace :0")
	case "journalctl":
		return flags("-aefklmqrxN -# -n? -b? -u: -t: -p: -g: -o: -S: -U: -F: -D: -c: -M: --all --boot? --catalog --cursor= --after-cursor= --directory= --disk-usage --dmesg --facility= --field= --fields --file= --follow --full --grep= --case-sensitive? --header --identifier= --lines? --list-boots --list-catalog --local --merge --no-full --no-hostname --no-pager --no-tail --output= --output-fields= --pager-end --priority= --quiet --reverse --root= --show-cursor --since= --system --unit= --until= --user --user-unit= --utc --verify --namespace= --dump-catalog --truncate-newline")
	case "sysctl":
		return row{listed: true, judge: judgeSysctl}
	case "ldconfig":
		return row{listed: true, judge: needs("-p --print-cache", "-pvNX --print-cache :0")}
	case "dpkg":
		return row{listed: true, judge: needs("-l -L -s -S -p -V -C -c -I --list --listfiles --status --search --print-avail --verify --audit --print-architecture --print-foreign-architectures --get-selections --contents --info", "-lLsSpVCcI --list --listfiles --status --search --print-avail --verify --audit --print-architecture --print-foreign-architectures --get-selections --contents --info --no-pager")}
	case "dpkg-query":
		return flags("-lLsSWpc -f: --list --listfiles --status --search --show --print-avail --showformat= --control-list --no-pager")
	case "rpm":
		return row{listed: true, judge: needs("-q --query", "-qaildcRf --query --all --info --list --configfiles --docfiles --requires --provides --changelog --scripts --last --whatprovides --whatrequires --file --group --queryformat= --qf= --state --triggers --conflicts --obsoletes --enhances --recommends --suggests --supplements")}
	case "pacman":
		return row{listed: true, judge: judgePacman}
	case "pactree", "pacinfo":
		return flags("-dcrulis --unique --reverse --depth= --color --linear")
	case "update-alternatives", "alternatives":
		return row{listed: true, judge: needs("--list --display --query --get-selections", "--list --display --query --get-selections :1")}
	case "utmpdump":
		return flags(":1")
	case "matchpathcon", "selinuxenabled", "aa-enabled", "aa-status", "apparmor_status":
		return flags("-VnN --enabled --profiled --json --verbose")
	case "auditctl":
		return row{listed: true, judge: needs("-l -s", "-ls :0")}
	}
	return subTable(name)
}
