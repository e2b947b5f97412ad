// Package shell reads a bash command line with a real parser and says what it
// can do. It runs nothing and looks at nothing but the line.
//
// [Judge] starts from no: a line is ReadOnly only if every command of it, at
// any depth, stands in a table of commands that only read, with flags that only
// read, and if nothing else in the line can change anything. What the parser
// does not understand, what is computed when the line runs, and what nobody
// wrote down is not ReadOnly.
//
// The judgement is about the line alone. That a program in the table is the one
// that its name says, that the environment holds nothing which changes what
// programs do (PATH, LD_PRELOAD, BASH_ENV, GIT_DIR), and that configuration
// runs nothing, is for who runs the line to see to: with a clean environment,
// and for git with what [GitEnvironment] says. Nor is the judgement what keeps
// a machine safe: that is isolation.
//
// For rules, a line is its Commands: each simple command, and as if they were
// commands also what changes things without one. A file that is written by a
// redirection is the command > FILE, a process left behind is &. Words that
// give variables a value stand before the command. A word that is computed has
// a NUL in it, which no pattern can have.
package shell
