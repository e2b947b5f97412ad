package mcptool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// who is which server it is, for all that is kept of it: its pins, what was answered
// for it, and the rules that its tools are given. It is its name and what runs: a
// command with its arguments and the folder that it runs in, where scripts and
// packages are found, or a URL. Of its variables those are a part of it that decide what
// runs, as they are written down. The rest is not: it is another in each terminal, and
// a no that was said in one of them counts in all.
type who struct {
	server   string
	identity string // command and arguments with the variables that decide what runs, or the URL, as it is shown, without the values of secrets
	dir      string // of a command
	// program is the first word of the command: who has another is quite another
	// server, and not only another version. "": it has a URL, and no other version.
	program string
}

// who is the server as it is told to be reached.
func (s *Server) who() who {
	if s.URL != "" {
		return who{server: s.Name, identity: readable(s.clean(cmp.Or(s.Written, s.URL)))}
	}
	words := make([]string, len(s.Command))
	for i, word := range s.Command {
		words[i] = plainWord(readable(s.clean(word)))
	}
	if all := s.Deciding(); len(all) > 0 {
		words = append(words, "with")
		for _, e := range all { // NAME="value": a word of a command never has a quote inside alone
			name, value, _ := strings.Cut(e, "=")
			words = append(words, plainWord(readable(name))+"="+string(quote(readable(s.clean(value)))))
		}
	}
	w := who{server: s.Name, identity: strings.Join(words, " "), dir: readable(s.Dir)}
	if len(s.Command) > 0 {
		w.program = readable(s.clean(s.Command[0]))
		if name := w.program; filepath.Base(name) != name && !filepath.IsAbs(name) { // the same words in another folder are another program
			w.program = filepath.Join(w.dir, name)
		}
	}
	return w
}

// who is the server as it was told to be reached when it was first asked: a secret
// that becomes known later makes it no other.
func (s *server) who() who {
	s.pins.once.Do(func() { s.pins.who = s.Server.who() })
	return s.pins.who
}

// plainWord is a word of a command, in quotes where it would not be seen as one.
func plainWord(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\n\"'\\") {
		return string(quote(word))
	}
	return word
}

// readable is a text that is the same when it was written to a file and read again,
// and no other's.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strconv.Quote(text)
}

// file is where what is known of it is kept.
func (w who) file(dir string) string {
	return filepath.Join(dir, w.server+"."+w.sum("who")[:12]+".json")
}

// key is what a tool of the server is called that says what a digest names: rules are
// bound to it, so that no other program under the same name has them.
func (w who) key(digest string) string { return "sha256:" + w.sum("key", digest) }

func (w who) sum(words ...string) string {
	h := sha256.New()
	for _, word := range append(words, w.server, w.identity, w.dir) {
		h.Write(quote(word))
	}
	return hex.EncodeToString(h.Sum(nil))
}
