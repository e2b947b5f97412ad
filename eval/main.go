// Command eval measures Ferrule on data from outside. Each program takes file
// paths and prints one JSON object per line, the last one a summary; it exits
// with 1 when something that must hold does not.
//
//	go run ./eval schema-suite FILE REMOTES
//	go run ./eval json-suite FILE
//	go run ./eval schemas FILE
//	go run ./eval bfcl TOOLS CALLS
//	go run ./eval retrieval TOOLS QUERIES [TOOLS QUERIES]... [--baseline] [--without=IDEA]...
//	go run ./eval shell FILE
//	go run ./eval injections FILE
//	go run ./eval pii FILE
//	go run ./eval keys
//	go run ./eval flow LABELS SEQUENCES
//	go run ./eval flow-set SCENARIOS INJECTIONS
//	go run ./eval wire FILE
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// program is one measurement. It writes rows and a summary to out.
type program struct {
	name, args string
	run        func(out *json.Encoder, files []string) error
}

func programs() []program {
	return []program{
		{"schema-suite", "FILE REMOTES", schemaSuite},
		{"json-suite", "FILE", jsonSuite},
		{"schemas", "FILE", schemas},
		{"bfcl", "TOOLS CALLS", bfcl},
		{"retrieval", "TOOLS QUERIES [TOOLS QUERIES]... [--baseline] [--without=IDEA]...", retrieval},
		{"shell", "FILE", shellCommands},
		{"injections", "FILE", injections},
		{"flow", "LABELS SEQUENCES", flows},
		{"pii", "FILE", pii},
		{"keys", "", keys},
		{"flow-set", "SCENARIOS INJECTIONS", flowSet},
		{"wire", "FILE", wire},
	}
}

// errMissed is what a program returns when it ran, and a figure that must hold
// does not.
var errMissed = errors.New("missed")

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	if slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" }) {
		usage(stdout)
		return 0
	}
	for _, p := range programs() {
		if p.name != args[0] {
			continue
		}
		more := strings.Contains(p.args, "...") // it counts for itself
		if want := len(strings.Fields(p.args)); !more && len(args)-1 != want {
			fmt.Fprintf(stderr, "eval %s: got %d files, want %d\n", p.name, len(args)-1, want)
			usage(stderr)
			return 2
		}
		out := bufio.NewWriter(stdout)
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		err := p.run(enc, args[1:])
		if flush := out.Flush(); err == nil {
			err = flush
		}
		if err != nil {
			fmt.Fprintf(stderr, "eval %s: %v\n", p.name, err)
			return 1
		}
		return 0
	}
	fmt.Fprintf(stderr, "eval: no program %q\n", args[0])
	usage(stderr)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, p := range programs() {
		fmt.Fprintf(w, "  go run ./eval %s %s\n", p.name, p.args)
	}
}

// readLines decodes a file of JSON lines, compressed if its name says so.
func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var rows []T
	dec := json.NewDecoder(in)
	for {
		var row T
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no rows", path)
	}
	return rows, nil
}
