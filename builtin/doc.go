// Package builtin holds the tools that come with Ferrule. Each is a struct whose
// zero value is the safe one, and whose method Tool makes the tool:
//
//	read, err := builtin.Fetch{Hosts: []string{"localhost:3000"}}.Tool()
//
// [Fetch] reads the web and refuses what is not public. [Think] gives a model room
// to think. [AskUser] puts a question to the person who is there.
package builtin
