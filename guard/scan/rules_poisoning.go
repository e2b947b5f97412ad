package scan

// poisoningRules find definitions that command, or that say themselves that they do harm.
func poisoningRules() []Rule {
	return []Rule{
		{
			ID: "poisoning-exfil", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:exfil(?:trat\w{1,4})?|(?:steal|stole)(?:s|n|ing)?|harvest(?:s|ing)? (?:\w{3,12} )?(?:credentials|secrets|e-?mails?|passwords|tokens|cookies|data)|keylog\w{0,5}|attacker[- ]controlled|siphon|(?:covert|hidden) channel|data theft)\b`,
			Hits:    []string{"exfil_mail: Exfiltrate mail.", "Steals cookies."},
			Misses:  []string{"Exports data.", "Harvests the grain."},
		},
		{
			ID: "poisoning-malware", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:ransomware|malware|rootkit|backdoors?|trojan|spyware|botnet|shellcode|payload (?:injection|delivery)|fork bomb|zip bomb|logic bomb|cryptominer|cryptojack\w{1,4}|worm propagation|malicious (?:\w{2,12} ){0,2}?(?:code|script|javascript|dll|symlinks?|zip|file|payload|one|macro|package|binary|link|module|library|plugin|service|document|archive|image|input|command|data|request|extension|update|server|apk|pdf|driver|profile|template|entry|task|hook|configuration|config|tar))\b`,
			Hits:    []string{"Deploys ransomware.", "Embed a malicious macro in a file."},
			Misses:  []string{"Scans for viruses.", "Checks a file for problems."},
		},
		{
			ID: "poisoning-shell", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:reverse[ _]shell|bind[ _]shell|web[ _]shell|(?:spawn|drop)s? (?:an? )?(?:root )?shell|remote code execution|arbitrary (?:code|command) (?:execution|injection)|code execution (?:via|through|in)|for code execution|command injection|meterpreter|c2 (?:server|beacon|channel)|command[ -]and[ -]control)\b`,
			Hits:    []string{"Opens a reverse shell.", "XSLT used for code execution."},
			Misses:  []string{"Opens a shell window."},
		},
		{
			ID: "poisoning-injection", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:sql|nosql|ldap|xpath|xxe|xml|crlf|template|(?:server-side|ssti)|expression language|object|process|dll|header|log|code|os command|host header|graphql|css|html|script|xslt|yaml|dylib|ld_preload|prototype|csv|formula|argument|environment variable) (?:template )?(?:injection|pollution|entity attack|preload(?:ing)? (?:hijack|injection))\b`,
			Hits:    []string{"Tests LDAP injection on a host."},
			Misses:  []string{"Dependency injection for classes."},
		},
		{
			ID: "poisoning-inject", Family: Poisoning, Definitions: true,
			Pattern: `\binject(?:s|ing)? (?:\w{2,12} ){0,3}?(?:dll|shellcode|code|payload|process|malicious|commands?|into (?:remote|running|target|another)|library|thread|keystrokes?)\b`,
			Hits:    []string{"Inject code into a process."},
			Misses:  []string{"Inject fuel into the engine."},
		},
		{
			ID: "poisoning-hijack", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:hijack(?:s|ing)?|spoof(?:s|ing)?|(?:arp|dns|cache|llmnr|nbt-ns) poison(?:s|ing)?|man[- ]in[- ]the[- ]middle|mitm|phishing|typosquat\w{0,4}|clickjack\w{1,4}|relay(?:s)? (?:captured )?(?:ntlm|credentials|authentication)|ntlm relay)\b`,
			Hits:    []string{"Hijack a session.", "Sends phishing mail."},
			Misses:  []string{"Relays mail to a host."},
		},
		{
			ID: "poisoning-credentials", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:dump(?:s|ing)?|extract(?:s|ing)?|crack(?:s|ing)?|brute[ -]?forc(?:e|es|ing)|spray(?:s|ing)?|recover|decrypt(?:s)?|capture(?:s)?|intercept(?:s)?|grab(?:s)?|read(?:s)?) (?:\w{2,14} ){0,4}?(?:password(?:s| hash(?:es)?)?|credentials?|hash(?:es)?|sam database|lsass|ntds|keyring|keychain|kerberos(?: service)? tickets?|secrets from|saved logins|vault secrets|gmsa|wallet (?:secrets|keys)|kwallet|shadow file|cookies|tokens from (?:memory|browser)|session tokens|ssh keys|private keys|api keys)\b`,
			Hits:    []string{"Dump password hashes.", "Extracts credentials from memory."},
			Misses:  []string{"Read the mail policy.", "Extract text."},
		},
		{
			ID: "poisoning-attacks", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:mimikatz|kerberoast\w{0,4}|as-?rep ?roast\w{0,4}|dcsync|golden ticket|silver ticket|pass[- _]the[- _](?:hash|ticket)|printnightmare|petitpotam|zerologon|eternalblue|log4shell|brute[- ]?forc(?:e|es|ing)|password spray\w{0,4}|credential stuffing|rainbow table|algorithm confusion|key confusion|shadow credentials|dictionary attack|bruteforce|lsass|evil twin|timestomp\w{0,4}|zip slip|path traversal|directory traversal|deseriali[sz]ation (?:attack|exploit|vulnerab\w{4,6})|symlink (?:attack|race)|race condition attack|dirty ?(?:cow|pipe)|heap spray\w{0,4}|rop chain|side[- ]channel attack|session fixation|ddos|denial[- ]of[- ]service|smurf attack|syn flood|dll (?:search|side-?load\w{0,4})|com object hijack\w{0,4}|process hollow\w{0,4})\b`,
			Hits:    []string{"Runs a DCSync.", "Performs a syn flood."},
			Misses:  []string{"Gives a ticket to the clerk", "Follows a path."},
		},
		{
			ID: "poisoning-escalate", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:privilege escalation|privesc\w{0,3}|escalat(?:e|es|ing) (?:\w{2,10} )?privileges?|gain(?:s|ing)? (?:root|administrator|admin|system) (?:access|privileges)|(?:container|vm|sandbox|chroot|jail|docker) (?:escape|breakout)|escap(?:e|es|ing) (?:from )?(?:the )?(?:container|sandbox|chroot|jail|vm|docker)|suid binar\w{1,3}|(?:add|create)s? (?:a )?hidden (?:user|admin)\w{0,8}|account (?:for )?takeover|domain (?:admin )?takeover)\b`,
			Hits:    []string{"Used for privilege escalation.", "Escape the sandbox to the host."},
			Misses:  []string{"Escapes HTML.", "Container for text."},
		},
		{
			ID: "poisoning-exploit", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:exploit(?:s|ing|ation)?|abus(?:e|es|ing)|tamper(?:s|ing)?(?: with)?|weaponi[sz]e\w?) (?:\w{2,16} ){0,4}?(?:vulnerabilit(?:y|ies)|privileged?|permissions?|polic(?:y|ies)|misconfigur\w{4,6}|service|kernel|cron|sudo|capabilit(?:y|ies)|tokens?|credentials|logs?|log files|helper|helpers|weak\w{0,6}|flaws?|bugs?|acls?|delegation|certificates?|templates?|path|registry|task|rights|binary|binaries|setuid|suid|docker|lxd|nfs|group|trust|relations?\w{0,5}|impersonation|race|drivers?|hosts?|installer|on macos)\b`,
			Hits:    []string{"Exploit writable cron jobs.", "Tamper with log files."},
			Misses:  []string{"Exploit the mine.", "Abuse help line."},
		},
		{
			ID: "poisoning-bypass", Family: Poisoning, Definitions: true,
			Pattern: `\bbypass(?:es|ing)? (?:\w{2,16} ){0,3}?(?:apparmor|selinux|uac|applocker|amsi|antivirus|av|edr|defender|authentication|restrictions|firewall|waf|security|sandbox|mfa|2fa|whitelist\w{0,3}|tcc|gatekeeper|sip|detection|filters?|csp|controls?|aslr|dep|login|captcha|rate limits?|integrity)\b`,
			Hits:    []string{"Bypass the SELinux checks."},
			Misses:  []string{"Bypass valve.", "Bypass the cache."},
		},
		{
			ID: "poisoning-hide", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:to )?(?:hide|cover|erase|wipe|conceal|clear)(?:s|ing)? (?:\w{2,12} ){0,2}?(?:activity|tracks|traces|evidence|malware|malicious activity|intrusion|forensic\w{0,9}|event logs?|audit logs?|bash history|shell history|free space|itself from)\b`,
			Hits:    []string{"Clears audit logs.", "wipe traces"},
			Misses:  []string{"Clear the log level.", "Hide the column."},
		},
		{
			ID: "poisoning-persistence", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:(?:for|gain|establish|maintain|achieve|create)(?:s|ing)? (?:\w{4,12} )?persistence\b(?: (?:on|in|via|through|mechanism|/)|[/.])|persistence/execution|overwrit(?:e|es|ing) (?:\w{3,12} )?(?:system|legitimate|boot|mbr|master boot) (?:binary|binaries|file|files|record|libraries|sector)|disabl(?:e|es|ing) (?:\w{3,12} )?(?:antivirus|defender|firewall|logging|audit\w{0,3}|edr|security (?:software|tools|features)|selinux|backups?)|delete(?:s)? (?:\w{3,12} )?(?:shadow copies|backups|volume shadow)|(?:kill|wipe|corrupt|destroy)s? (?:\w{3,12} )?(?:mbr|boot sector|disk|partition table|file ?system|backups)|exhaust(?:s|ing)? (?:\w{3,12} )?(?:process table|memory|disk|inodes?|file descriptors|resources))\b`,
			Hits:    []string{"Establish persistence via tasks.", "Disables Windows Defender."},
			Misses:  []string{"Persistence layer.", "Disable the button."},
		},
		{
			ID: "poisoning-spy", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:record(?:s|ing)?|capture(?:s)?|sniff(?:s|ing)?|intercept(?:s|ing)?|monitor(?:s|ing)?|log(?:s|ging)?) (?:\w{2,12} ){0,3}?(?:keystrokes?|clipboard (?:data|contents?)|webcam|microphone|network traffic|credentials|passwords|private (?:messages|conversations)|packets)\b`,
			Hits:    []string{"Records keystrokes.", "Sniffs packets on the wire."},
			Misses:  []string{"Records a song."},
		},
		{
			ID: "poisoning-recon", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:recon(?:naissance)?(?:[ _-]|\b)|osint\b|google dork\w{0,4}\b|(?:username|user|subdomain|host|service|smb|rpc|snmp|ldap|dns|bucket|share|smtp|nfs|netbios|directory|network|cloud)[ _-]enum(?:eration)?\b|enumerat(?:e|es|ing) (?:\w{2,12} ){0,3}?(?:usernames?|users|accounts|rpc|smb|snmp|shares|exports|buckets?|bucket permissions|subdomains|ldap|netbios|domain (?:users|admins|controllers)|open ports|nfs)\b|(?:port|vulnerability|stealth|syn)[ _-]scan(?:s|ning)? (?:on|of|against|the|to)\b|(?:os|service|banner|version|waf)[ _-](?:fingerprint\w{0,3}|grab\w{0,4})\b|zone transfer\b)`,
			Hits:    []string{"Enumerate valid usernames on a host.", "Runs a port scan on hosts."},
			Misses:  []string{"Enumerates items.", "Scans a document."},
		},
		{
			ID: "poisoning-order", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:before|prior to|when|whenever|after|each time|every time) (?:using|calling|you (?:use|call|run|invoke)|responding|answering|running|executing|invoking|this tool is (?:used|called))\b.{0,60}?\b(?:you must|always|first|make sure|you should|it is (?:mandatory|required|necessary)|required to)\b.{0,30}?\b(?:read|send|open|fetch|access|retrieve|list|call|upload|pass|include|forward|copy|check the file)\b`,
			Hits:    []string{"Before using this tool, you must read the notes file."},
			Misses:  []string{"Before using it, charge it."},
		},
		{
			ID: "poisoning-otherwise", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:otherwise|or else|if you (?:don't|do not|fail)) (?:,? ?(?:the |this )?(?:tool|application|app|server|system|it|function|service) (?:will|would|may|can)(?: not|n't)? (?:\w{3,12} ){0,2}?(?:work|crash|fail|break|stop|lock|function|refuse)|(?:to )?(?:read|pass|send|include|provide) (?:the|this|it))\b`,
			Hits:    []string{"otherwise the tool will not work"},
			Misses:  []string{"otherwise, an error is returned"},
		},
		{
			ID: "poisoning-implementation-detail", Family: Poisoning, Definitions: true,
			Pattern: `\b(?:(?:just an?|only an?|mere|internal) implementation detail|the user (?:does not|doesn't|won't|will not|need not) (?:need to )?(?:know|see|care)|(?:to avoid|without) (?:worrying|confusing|upsetting|alarming|bothering) (?:the |your )?users?|behind the scenes,? (?:you|call|send|read))\b`,
			Hits:    []string{"Done so to avoid confusing the user."},
			Misses:  []string{"See the implementation for details."},
		},
	}
}
