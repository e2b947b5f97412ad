package shell

import "strconv"

// GitEnvironment is the environment, as NAME=VALUE, in which git commands that
// are judged ReadOnly do nothing else: no hooks, no file system monitor, no
// pager, no check of signatures, no refresh of the index, no fetch of objects
// that lack, no configuration of the system or the user, no attributes of the
// system. It goes on top of an environment without any other GIT_ variable.
//
// What git lets nobody switch off in this way are diff.external, textconv and
// filters that the repository's own configuration names: they take the flags
// --no-ext-diff and --no-textconv, and isolation.
func GitEnvironment() []string {
	off := [][2]string{
		{"core.fsmonitor", "false"},
		{"core.untrackedCache", "keep"},
		{"core.hooksPath", "/dev/null"},
		{"core.pager", "cat"},
		{"diff.autoRefreshIndex", "false"},
		{"diff.ignoreSubmodules", "all"}, // git in a submodule would not have this environment
		{"diff.submodule", "short"},
		{"status.submoduleSummary", "false"},
		{"log.diffMerges", "separate"}, // to merge again runs drivers of merges
		{"log.showSignature", "false"},
		{"gpg.program", "false"},
		{"gpg.ssh.program", "false"},
		{"gpg.x509.program", "false"},
		{"maintenance.auto", "false"},
		{"gc.auto", "0"},
	}
	env := []string{
		"GIT_PAGER=cat",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ALLOW_PROTOCOL=",
		"GIT_CONFIG_COUNT=" + strconv.Itoa(len(off)),
	}
	for i, o := range off {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+o[0], "GIT_CONFIG_VALUE_"+n+"="+o[1])
	}
	return env
}
