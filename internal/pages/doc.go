// Package pages reads README.md and the pages under docs as what they are for a
// reader: programs, commands and what they print. Its tests, which make docs-test
// runs, keep each block to its word; CONTRIBUTING.md says how blocks are written. The
// package itself is what these tests share with e2e, which runs README.md in a fresh
// clone.
//
//	block.go   the fenced blocks of a page
//	match.go   what is printed, and what the page says of it
//	shell.go   the sh blocks of a page, in one bash
package pages
