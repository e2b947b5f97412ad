// Package sandbox runs a command at a level of isolation.
//
// A [Box] holds what commands may do: which folders they read and write, whether
// there is a network, how much they may use. Level [Process] needs nothing but a
// Linux kernel with Landlock: the first command starts one child of this program,
// the keeper, which starts all commands of the Box, each confined by Landlock,
// seccomp and limits, with a HOME, a TMPDIR and caches of its own. Where user
// namespaces are allowed the keeper is in namespaces of its own, so that commands
// share a loopback that is nobody else's, see no other processes, and are gone
// when the keeper is. Level [Namespace] runs each command by bubblewrap, level
// [Container] by docker or podman.
//
// The keeper is this same program, run again. That is why main begins with
// [Enter]:
//
//	func main() {
//		helper := sandbox.Enter() // does not return in the keeper
//		…
//		box, err := sandbox.New(sandbox.Config{Helper: helper, Workspace: []string{dir}})
//
// What a command really gets stands in [Applied], and what was wanted and cannot
// be had here stands there in sentences. A level that cannot be had at all is an
// [Unavailable] error, unless Config.Weaker says that less will do.
//
// docs/threat-model.md says what each level stops and what it does not.
package sandbox
