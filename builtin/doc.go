// Package builtin has the tools that come with Ferrule. Each is a struct whose
// zero value is the safe one, and whose method Tool or Tools makes the tools:
//
//	history, err := undo.Open(ctx, "/work/.ferrule/undo")
//	…
//	files, err := builtin.Files{Roots: []string{"/work"}, Undo: history}.Tools()
//	shell, err := builtin.Shell{Workspace: []string{"/work"}, Sandbox: sandbox.Config{Helper: helper}}.Tools()
//	fetch, err := builtin.Fetch{Hosts: []string{"localhost:3000"}}.Tool()
//	…
//	err = rt.Set(tool.Source{Name: "builtin", Trust: tool.BuiltIn}, files...)
//
// [Files] are fs_read, fs_write, fs_edit, fs_list, fs_glob and fs_grep: files
// inside one or more folders that no link, no .. and no race leads out of. What
// they change can be undone where they are given a history (package undo).
//
// [Shell] is shell, process_list, process_read and process_stop: bash, always in a
// sandbox, and what it left running in the background. Nothing outlasts its
// session.
//
// [Fetch] reads the web and refuses what is not public. [Think] gives a model room
// to think. [AskUser] puts a question to the person who is there.
//
// What each tool says to a model stands in the folder texts.
package builtin
