// Package adopt puts Ferrule beside what a program has already: its tools into Eino,
// into an mcp-go server and into a bare loop on a vendor's SDK, and the tools of Eino
// and mcp-go into Ferrule. Each is one function, to be copied: bench/README.md shows
// them.
//
// Ferrule's tools go through their whole life wherever they are called from: rules,
// limits, cleaning and records apply, and whatever happens is a result that the model
// reads, never an error that ends the turn.
package adopt
