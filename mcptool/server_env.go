package mcptool

import (
	"slices"
	"strings"
)

// decides reports whether a variable decides what runs, whatever the command is: it
// names code that is loaded, where programs, modules or packages are found, or what is
// run beside. Case does not count: it does not on Windows, nor for npm anywhere.
// Variables that are not known here count as any other; so it is better to have one
// too many in this table.
func decides(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "PATH", "PATHEXT", "COMSPEC", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", // where programs and their settings are found
		"GCONV_PATH", "GETCONF_DIR", "LOCPATH", "GLIBC_TUNABLES", "LIBPATH", "SHLIB_PATH", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", // libraries
		"ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "ZDOTDIR", "SHELL", "PSMODULEPATH", // shells
		"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "ELECTRON_RUN_AS_NODE", "BUN_OPTIONS",
		"PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE", "PYTHONPYCACHEPREFIX",
		"PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS", "VIRTUAL_ENV",
		"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "PHPRC", "PHP_INI_SCAN_DIR",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "JAVA_HOME", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS",
		"DOTNET_STARTUP_HOOKS", "DOTNET_ROOT", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "RUSTC_WRAPPER",
		"SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "MANPAGER":
		return true
	}
	if slices.ContainsFunc([]string{"TOKEN", "PASS", "SECRET", "AUTH", "_KEY"}, func(part string) bool { return strings.Contains(name, part) }) &&
		!strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "LD_") && !strings.HasPrefix(name, "DYLD_") {
		return false // it lets a tool in somewhere (CARGO_REGISTRY_TOKEN), and is not to be shown
	}
	return slices.ContainsFunc([]string{
		"LD_", "DYLD_", "BASH_FUNC_", "NPM_CONFIG_", "PNPM_", "YARN_", "DENO_", "TS_NODE_", "UV_", "PIP_", "PIPX_", "BUNDLE_", "LUA_", "R_PROFILE",
		"CORECLR_", "COR_", "CARGO_", "DOCKER_",
		// Those of git that name a program, or settings that may.
		"GIT_SSH", "GIT_EXEC_PATH", "GIT_CONFIG", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR", "GIT_DIR",
	}, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// Deciding are those variables of WrittenEnv (NAME=value) that decide what runs, as
// LD_PRELOAD, NODE_OPTIONS and PATH do, by name: a person is to see their values, and
// who changes one has another version of the server.
func (s *Server) Deciding() []string {
	if s.URL != "" {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(s.WrittenEnv), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return !decides(name)
	})
	slices.Sort(all)
	return all
}
