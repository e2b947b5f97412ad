package shell

import "strings"

// answersHelp reports whether a program that is not in the table is known to
// answer --help and --version and do nothing else then.
func answersHelp(name string) bool {
	for _, family := range [...]string{"lxc-", "aa-", "pw-", "snmp", "systemd-", "llvm-", "gst-", "xfs_", "mkfs.", "fsck.", "eu-", "btrfs-", "qemu-", "virt-", "ntfs", "pac", "kpackagetool", "sc_", "wl-", "gpg-", "ssh-", "nm-", "zfs-", "lv", "vg", "pv"} {
		if strings.HasPrefix(name, family) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == "" {
			return true
		}
	}
	switch name {
	case "R", "Rscript", "ab", "acpi_listen", "age", "aircrack-ng", "alacritty", "alien", "anacron", "apt", "apt-cache", "apt-get", "aria2c",
		"arping", "as", "astyle", "atop", "autoconf", "automake", "bash", "bear", "binwalk", "bison", "blender", "borg", "brew", "brotli", "btop", "buildah",
		"bun", "busybox", "bzip3", "bzr", "c++", "caddy", "cc", "ccache", "cdparanoia", "cdrecord", "chcon", "chez", "chezmoi", "chfn", "chgrp", "chmod",
		"chown", "chpasswd", "chronyd", "chroot", "chrpath", "chrt", "chsh", "clang", "clang++", "clang-format", "clang-tidy", "clangd", "clisp", "cloc",
		"cmake", "colima", "collectd", "consul", "containerd", "convert", "cosign", "cp", "cppcheck", "crane", "createdb", "crictl", "crun", "cryptsetup",
		"crystal", "cscope", "csplit", "ctags", "ctr", "curl", "cvs", "dd", "ddrescue", "debootstrap", "delta", "deno", "depmod", "difft", "dig", "distcc",
		"distrobox", "dmd", "dmenu", "dnf", "dnsmasq", "doas", "dos2unix", "doxygen", "dpkg-deb", "dropdb", "duckdb", "dunst", "duplicity", "e2fsck", "ed",
		"eject", "emacs", "enscript", "entr", "espeak", "etcd", "exiv2", "fakeroot", "feh", "festival", "ffmpeg", "ffplay", "fio", "fish", "flac",
		"flex", "flite", "flock", "foot", "foremost", "fossil", "fpc", "fping", "fsck", "ftp", "fusermount", "fusermount3", "fzf", "g++", "gamescope", "gcc",
		"gcov", "gcrane", "gdb", "gdc", "genisoimage", "gettext", "gforth", "gh", "ghc", "ghostty", "gimp", "gitea", "gitk", "glab", "global", "gnat",
		"gnome-terminal", "gnuplot", "gobuster", "gpasswd", "gpclient", "gpg", "gpg2", "gpgconf", "gprof", "grafana", "groff", "groupadd", "groupdel",
		"groupmod", "growisofs", "growpart", "grype", "gs", "gtk-launch", "guile", "hadolint", "haproxy", "hashcat", "hciconfig", "help2man", "hexedit",
		"hey", "hostapd", "hping3", "htop", "http", "httpie", "hub", "hx", "hydra", "i3", "id3v2", "identify", "iftop", "indent", "influx", "initdb",
		"inkscape", "insmod", "install", "iotop", "iperf", "iperf3", "jack_control", "java", "javac", "jj", "john", "julia", "kdocker", "kitty", "knock",
		"ksh", "lame", "latex", "lazydocker", "lazygit", "ld", "ldc2", "lf", "lighttpd", "lima", "link", "lldb", "llvm-config", "ln", "logger", "logrotate",
		"lrzip", "ltrace", "lua", "lvcreate", "lvextend", "lvremove", "lynx", "lz4", "m4", "magick", "maim", "make", "makeinfo", "mariadb", "masscan",
		"maxima", "mc", "memcached", "meson", "metaflac", "mkcert", "mkdir", "mkfifo", "mkfs", "mknod", "mkswap", "mktemp", "modprobe", "mogrify", "mongod",
		"mongosh", "mono", "montage", "mosquitto", "mpv", "msgcat", "msgfmt", "msgmerge", "mtr", "multipass", "mupdf", "mutool", "mv", "mysql", "mysqld",
		"mysqldump", "named", "nano", "nasm", "navi", "nc", "ncat", "needrestart", "nerdctl", "nethogs", "nikto", "nim", "ninja", "nmap", "nmtui", "nnn",
		"node", "nohup", "nomad", "notify-send", "nsenter", "nsxiv", "ntpd", "nvim", "objcopy", "ocaml", "octave", "openvpn", "openvpn3",
		"opusenc", "pandoc", "parallel", "partprobe", "paru", "pass", "patch", "patchelf", "pdflatex", "perf", "perl", "pg_ctl", "pg_dump", "pg_restore",
		"pgbench", "photorec", "php", "ping", "pipewire", "pipx", "pivot_root", "podman", "postgres", "powertop", "prelink", "presenterm", "psql", "ptx",
		"pulseaudio", "pvcreate", "python", "python2", "python3", "qemu-img", "qemu-system-x86_64", "qpdf", "r2", "rabbitmqctl", "radare2", "raku", "ranger",
		"ranlib", "rclone", "rcs", "redis-cli", "redis-server", "reflector", "renice", "resize2fs", "restic", "rfcomm", "rm", "rmdir", "rmmod", "rofi",
		"rpmbuild", "rsync", "rsyslogd", "rtcwake", "ruby", "ruff", "runc", "runcon", "sbcl", "scc", "sccache", "scp", "screen", "script", "scrot",
		"setarch", "setsid", "sftp", "shellcheck", "shfmt", "shred", "siege", "skopeo", "snmpget", "snmpgetnext", "snmpwalk", "socat", "sox", "split",
		"sqlcmd", "sqlite3", "sqlmap", "squid", "ssh", "ssh-agent", "ssh-copy-id", "starship", "stdbuf", "step", "stow", "strace", "stress", "stress-ng",
		"strip", "su", "sudo", "swapoff", "sway", "swaynag", "swipl", "sxiv", "syft", "sync", "taskset", "tcc", "tcpdump", "tcsh", "tee",
		"telnet", "testdisk", "testparm", "tex", "texinfo", "tidy-viewer", "tig", "tldr", "tlp", "tmux", "toolbox", "tor", "touch", "toybox", "tracepath",
		"traceroute", "trivy", "truncate", "tshark", "tuned", "udiskie-mount", "umount", "unbound", "uncrustify", "unix2dos", "unlink", "unshare",
		"updatedb", "uptime", "useradd", "userdel", "usermod", "uv", "vacuumdb", "vala", "valac", "valgrind", "vault", "vcsh", "vgcreate", "vgremove", "vi",
		"vigr", "vim", "vipw", "virsh", "virt-install", "virt-manager", "visudo", "vlc", "w3m", "watch", "wg", "wg-quick", "wget", "whois", "wipefs",
		"wl-copy", "wodim", "wofi", "wpa_supplicant", "wrk", "xargs", "xdg-open", "xelatex", "xgettext", "xorriso", "xterm", "yadm", "yamllint", "yasm",
		"yay", "youtube-dl", "yt-dlp", "yum", "zathura", "zellij", "zenity", "zig", "zip", "zmap", "zoxide", "zsh":
		return true
	}
	return false
}

// changesOnlyFiles reports whether a program that is not ReadOnly reaches only
// what is on this machine, whatever its words.
func changesOnlyFiles(name string) bool {
	switch name {
	case "cp", "mv", "rm", "ln", "mkdir", "rmdir", "touch", "chmod", "chown", "chgrp", "dd", "tee", "truncate", "csplit", "mktemp", "mkfifo", "sync", "shred", "link", "unlink", "shuf", "uniq", "base64", "base32", "xxd", "tree", "date", "cd":
		return true
	}
	return false
}
