package shell

// Judgement is what a command line can do. The zero Judgement knows nothing,
// and promises nothing.
type Judgement struct {
	// ReadOnly: nothing in the line can change lasting state: files, processes,
	// the machine, the network.
	ReadOnly bool
	// Why says why the line is not ReadOnly, for the operator and the model. It
	// names the command and the word.
	Why string
	// Local: nothing in the line can reach outside this machine.
	Local bool
	// Git: some command is git, and wants [GitEnvironment].
	Git bool
	// Commands are all simple commands of the line, word by word and unquoted,
	// also those within others: in substitutions, in subshells, behind env,
	// sudo, xargs, timeout, find -exec, bash -c and eval. A word that is
	// computed when the line runs has a NUL in it. What changes something
	// without a command stands as one: > FILE for a redirection, & for a process
	// left behind, NAME=VALUE. nil: not all can be known.
	Commands [][]string
	// Reads and Writes are the paths that are named, as they are written, with
	// what is below them. nil: they cannot be named.
	Reads, Writes []string
}

// Judge reads a line as bash would. It never fails: what cannot be read is not
// ReadOnly, and its commands are not known.
func Judge(line string) Judgement {
	return Judgement{Why: "not judged yet"}
}

// Scopes are rules that cover the line, narrowest first: what stands within the
// parentheses of a short rule, such as go test ./... and go test*. None is
// offered for programs that run other programs, beyond the very line.
func Scopes(line string) []string { return nil }
