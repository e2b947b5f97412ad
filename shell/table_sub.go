package shell

// subTable is what is known of programs whose first operand is a command. The
// name with a space behind it is the program without one.
func subTable(name string) row {
	switch name {
	case "systemctl":
		return row{listed: true, subs: true, flags: "-alrq -t: -p: -n: -o: --all --full --user --system --no-pager --no-legend --plain --failed --quiet --recursive --reverse --value --state= --type= --property= --lines= --output="}
	case "systemctl ", "systemctl status", "systemctl show", "systemctl cat", "systemctl list-units", "systemctl list-unit-files", "systemctl list-timers", "systemctl list-sockets", "systemctl list-paths", "systemctl list-automounts", "systemctl list-jobs", "systemctl list-machines", "systemctl list-dependencies", "systemctl is-active", "systemctl is-enabled", "systemctl is-failed", "systemctl is-system-running", "systemctl get-default", "systemctl show-environment":
		return flags("-alrq -t: -p: -n: -o: --all --full --user --system --no-pager --no-legend --plain --failed --quiet --recursive --reverse --after --before --value --state= --type= --property= --lines= --output= --show-types --wait")
	case "timedatectl", "hostnamectl", "localectl", "loginctl", "networkctl", "resolvectl", "coredumpctl", "busctl", "systemd-analyze", "bootctl", "portablectl", "machinectl":
		return row{listed: true, subs: true, flags: "-al --no-pager --no-legend --all --full --static --pretty --transient --user --system --no-ask-password --json="}
	case "timedatectl ", "timedatectl status", "timedatectl show", "timedatectl list-timezones", "timedatectl timesync-status", "timedatectl show-timesync",
		"hostnamectl ", "hostnamectl status", "localectl ", "localectl status", "localectl list-locales", "localectl list-keymaps", "localectl list-x11-keymap-models", "localectl list-x11-keymap-layouts", "localectl list-x11-keymap-variants", "localectl list-x11-keymap-options",
		"loginctl ", "loginctl list-sessions", "loginctl list-users", "loginctl list-seats", "loginctl session-status", "loginctl user-status", "loginctl seat-status", "loginctl show-session", "loginctl show-user", "loginctl show-seat",
		"networkctl ", "networkctl list", "networkctl status", "networkctl lldp", "networkctl cat", "resolvectl status", "resolvectl statistics", "coredumpctl list", "coredumpctl info",
		"busctl ", "busctl list", "busctl status", "busctl tree", "busctl introspect",
		"systemd-analyze ", "systemd-analyze time", "systemd-analyze blame", "systemd-analyze critical-chain", "systemd-analyze plot", "systemd-analyze unit-paths", "systemd-analyze cat-config", "systemd-analyze calendar", "systemd-analyze timespan", "systemd-analyze timestamp", "systemd-analyze security",
		"bootctl status", "bootctl list", "portablectl list", "portablectl inspect", "machinectl list", "machinectl status", "machinectl show", "machinectl list-images":
		return flags("-alqn -p: --all --no-pager --no-legend --full --user --system --value --property= --reverse --json= --fuzz= --unique --acquired --activatable --list")
	case "udevadm":
		return row{listed: true, subs: true}
	case "udevadm info":
		return flags("-aexr -q: -p: -n: --query= --path= --name= --attribute-walk --export-db --export --root --tree")
	case "docker":
		return row{listed: true, subs: true, remote: true}
	case "docker ps", "docker images", "docker inspect", "docker version", "docker info", "docker top", "docker port", "docker stats", "docker diff", "docker history", "docker events",
		"docker container ls", "docker container list", "docker container ps", "docker container inspect", "docker container top", "docker container port", "docker container stats", "docker container diff",
		"docker image ls", "docker image list", "docker image inspect", "docker image history", "docker volume ls", "docker volume list", "docker volume inspect", "docker network ls", "docker network list", "docker network inspect", "docker context ls", "docker context show", "docker context inspect", "docker system df", "docker system info", "docker plugin ls", "docker service ls", "docker node ls", "docker stack ls", "docker config ls", "docker secret ls":
		return row{listed: true, remote: true, flags: "-alqstvH -f: -n: --all --filter= --format= --last= --latest --no-trunc --quiet --size --digests --tree --follow --tail= --since= --until= --timestamps --details --no-stream --human --verbose --type="}
	case "docker logs", "docker container logs", "docker service logs":
		return row{listed: true, remote: true, flags: "-ft -n: --follow --tail= --since= --until= --timestamps --details --no-trunc --no-resolve --no-task-ids --raw"}
	case "docker container", "docker image", "docker volume", "docker network", "docker context", "docker system", "docker plugin", "docker service", "docker node", "docker stack", "docker config", "docker secret":
		return row{listed: true, subs: true, remote: true}
	case "ip", "bridge", "tc":
		return row{listed: true, judge: judgeIP}
	case "iw":
		return row{listed: true, judge: judgeIw}
	case "nft", "ufw", "rfkill", "kmod", "dmsetup", "xinput", "zpool", "zfs", "btrfs", "nmcli", "pactl", "wpctl", "playerctl", "brightnessctl", "chronyc", "snap", "flatpak", "gsettings", "dconf", "xdg-mime", "xdg-settings", "pip", "pip3", "svn", "apk", "opkg", "pw-cli":
		return row{listed: true, subs: true}
	case "nft list": // it reads all words as one text
		return row{listed: true, judge: judgeSimple}
	case "ufw status", "rfkill list", "rfkill ", "kmod list", "dmsetup ls", "dmsetup info", "dmsetup status", "dmsetup table", "dmsetup version", "xinput list", "xinput list-props", "xinput ",
		"nmcli ", "playerctl status", "playerctl metadata",
		"gsettings get", "gsettings list-schemas", "gsettings list-keys", "gsettings list-recursively", "gsettings range", "gsettings describe", "dconf read", "dconf list", "dconf dump", "xdg-mime query", "xdg-settings get", "xdg-settings check",
		"flatpak list", "flatpak info", "flatpak remotes", "flatpak history", "flatpak ps", "snap list", "snap version", "snap services", "snap connections", "snap interfaces", "snap changes",
		"apk info", "apk policy", "apk dot", "opkg list-installed", "opkg info", "opkg status", "opkg files":
		return flags("-acdlnrsvw --all --verbose --long --short --app --runtime --columns= --list --show-details --user --system --name-only --id-only")
	case "wpctl status", "wpctl inspect", "wpctl get-volume", "pactl list", "pactl info", "pactl stat", "pactl get-default-sink", "pactl get-default-source", "pactl get-sink-volume", "brightnessctl get", "brightnessctl max", "brightnessctl info", "brightnessctl ", "pw-cli info", "pw-cli ls", "pw-cli list-objects":
		return flags("") // theirs name a server, or restore a setting
	case "zpool list", "zpool status", "zpool get", "zpool history", "zpool iostat":
		return flags("-HLPgiltrpvxsd -o: -T:")
	case "zfs list", "zfs get":
		return flags("-Hpr -o: -t: -d: -s: -S:")
	case "btrfs filesystem", "btrfs subvolume", "btrfs property", "btrfs device", "btrfs qgroup", "nmcli device", "nmcli connection", "nmcli general", "nmcli radio", "nmcli networking":
		return row{listed: true, subs: true, flags: "-f: -t -p"}
	case "btrfs filesystem df", "btrfs filesystem show", "btrfs filesystem usage", "btrfs filesystem du", "btrfs subvolume list", "btrfs subvolume show", "btrfs subvolume get-default", "btrfs property get", "btrfs property list", "btrfs device usage", "btrfs qgroup show":
		return flags("-abhHkmgtsupcorRdqt --human-readable --summarize --raw --si --iec")
	case "nmcli device status", "nmcli device show", "nmcli device ", "nmcli connection show", "nmcli connection ", "nmcli general status", "nmcli general permissions", "nmcli general ", "nmcli radio ", "nmcli networking ":
		return flags("-a --active --order=")
	case "chronyc tracking", "chronyc sources", "chronyc sourcestats", "chronyc activity", "chronyc clients", "chronyc ntpdata", "chronyc serverstats":
		return flags("-avn :1")
	case "pip show", "pip freeze", "pip check", "pip debug", "pip3 show", "pip3 freeze", "pip3 check", "pip3 debug", "pip inspect", "pip3 inspect":
		return flags("-fl -r: --files --local --user --all --path= --exclude-editable --exclude= --verbose --disable-pip-version-check")
	case "svn info", "svn status", "svn propget", "svn proplist": // of a working copy; log and list ask the server
		return row{listed: true, remote: true, flags: "-vqN -r: --verbose --quiet --show-item= --depth= --no-ignore --xml", judge: judgeNoURL}
	}
	return moreTable(name)
}
