package shell

// answersHelp reports whether a program that is not in the table is known to
// answer --help and --version and do nothing else then.
func answersHelp(name string) bool {
	switch name {
	case "cp", "mv", "rm", "ln", "mkdir", "rmdir", "touch", "chmod", "chown", "chgrp", "install", "dd", "tee", "truncate", "split", "csplit", "mktemp", "mkfifo", "mknod", "sync", "shred", "chroot", "nohup", "link", "unlink", "stdbuf", "xargs", "ptx", "runcon", "chcon", "patch", "ed", "m4", "bison", "flex", "make", "cmake", "meson", "ninja", "autoconf", "automake", "gettext", "msgfmt", "msgmerge", "help2man", "enscript", "groff", "texinfo", "makeinfo",
		"gcc", "g++", "cc", "c++", "clang", "clang++", "clangd", "clang-format", "clang-tidy", "ld", "as", "gdb", "lldb", "strip", "ranlib", "objcopy", "gcov", "gprof", "strace", "ltrace", "valgrind", "perf", "llvm-config", "ccache", "distcc",
		"bash", "zsh", "fish", "ksh", "tcsh", "perl", "python", "python2", "python3", "ruby", "node", "deno", "bun", "php", "lua", "java", "javac", "ghc", "ocaml", "swipl", "R", "Rscript", "julia", "mono",
		"curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "socat", "nmap", "dig", "whois", "ping", "traceroute", "tracepath", "mtr", "telnet", "ftp", "aria2c", "httpie", "http", "lynx", "w3m", "tcpdump", "tshark", "openvpn", "wg", "knock", "snmpwalk", "snmpget", "snmpgetnext",
		"vim", "vi", "nvim", "emacs", "nano", "hx", "screen", "tmux", "zellij", "htop", "btop", "atop", "iotop", "iftop", "nethogs", "watch", "script", "fzf", "parallel", "entr", "anacron",
		"sudo", "su", "doas", "visudo", "useradd", "userdel", "usermod", "groupadd", "groupdel", "groupmod", "chpasswd", "chsh", "chfn", "gpasswd", "umount", "mkfs", "fsck", "e2fsck", "mkswap", "swapoff", "wipefs", "partprobe", "growpart", "resize2fs", "cryptsetup", "lvcreate", "lvremove", "lvextend", "vgcreate", "vgremove", "pvcreate", "modprobe", "insmod", "rmmod", "depmod", "pivot_root", "unshare", "nsenter", "setarch", "taskset", "chrt", "renice", "setsid", "flock", "logger", "eject", "rtcwake", "fusermount", "fusermount3",
		"zip", "lrzip", "lz4", "bzip3", "brotli", "ffmpeg", "ffplay", "sox", "convert", "magick", "identify", "mogrify", "montage", "pandoc", "pdflatex", "latex", "xelatex", "tex", "gs", "qpdf", "mutool", "inkscape", "gimp", "blender", "vlc", "mpv", "flac", "lame", "opusenc", "metaflac",
		"sqlite3", "psql", "pg_dump", "pg_restore", "mysql", "mysqldump", "mongosh", "redis-cli", "gpg", "gpg2", "gpgconf", "age", "pass", "ssh-copy-id", "ssh-agent", "apt", "apt-get", "apt-cache", "yum", "dnf", "brew", "gitk", "tig", "bzr", "fossil", "cvs", "rcs", "jj", "gh", "glab", "hub", "podman", "buildah", "skopeo", "ruff", "pipx", "uv", "shellcheck", "shfmt", "hadolint", "yamllint", "tldr", "scc", "cloc", "delta", "difft", "starship", "zoxide", "navi", "lazygit", "lazydocker", "exiv2", "youtube-dl", "yt-dlp", "rclone", "restic", "borg", "duplicity", "qemu-img", "qemu-system-x86_64", "virt-manager", "virt-install", "virsh", "xdg-open", "notify-send", "zenity", "rofi", "dmenu", "wofi", "wl-copy", "scrot", "maim", "alacritty", "kitty", "foot", "ghostty", "gnome-terminal", "xterm":
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
