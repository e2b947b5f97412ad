package mcptool

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrule-dev/ferrule/tool"
)

// checkRules says what of what an operator says of a server cannot be.
func (s *Server) checkRules() error {
	for _, name := range slices.Sorted(maps.Keys(s.Claims)) {
		if err := s.Claims[name].Check(); err != nil {
			return fmt.Errorf("tool %s: %w", name, err)
		}
	}
	switch {
	case s.ArgumentBytes < 0:
		return fmt.Errorf("bytes of arguments: got %d, want more than 0, or 0 for no cap", s.ArgumentBytes)
	case s.ResultBytes < 0:
		return fmt.Errorf("bytes of a result: got %d, want more than 0, or 0 for no cap", s.ResultBytes)
	case s.BreakerAfter < 0 && s.BreakerAfter != tool.Unlimited:
		return fmt.Errorf("breaker: got %d calls, want more than 0, 0 for %d, or tool.Unlimited for none", s.BreakerAfter, breakerAfter)
	case s.BreakerPause < 0:
		return fmt.Errorf("breaker: got a pause of %s, want more than 0, or 0 for %s", s.BreakerPause, breakerPause)
	case s.Start != nil && len(s.Command) == 0:
		return errors.New("got what starts its command, and no command")
	}
	return nil
}

// claimed are the claims of a tool: what the operator says of it, else its hints.
func (s *Server) claimed(name string, hints tool.Claims) tool.Claims {
	if said, ok := s.Claims[name]; ok {
		said.Touches = slices.Clone(said.Touches)
		return said
	}
	return hints
}

// unheard are the names of tools that the operator speaks of and the server does not
// have, a sentence each. The server's mutex is held.
func (s *server) unheard() (notes []string) {
	if s.state != stateReady {
		return nil // nobody knows what it has
	}
	has := make(map[string]bool, len(s.tools.tools))
	for _, t := range s.tools.tools {
		has[t.name] = true
	}
	say := func(key string, names []string) {
		for _, name := range names {
			if !has[name] {
				notes = append(notes, fmt.Sprintf("%s: it has no tool %q", key, short(name)))
			}
		}
	}
	say("claims", slices.Sorted(maps.Keys(s.Claims)))
	say("believe", s.Believe)
	return notes
}

// tooMuch refuses arguments that the server is not to be sent.
func (s *server) tooMuch(a tool.Args) error {
	size := int64(len(a.Text()))
	if s.ArgumentBytes == 0 || size <= s.ArgumentBytes {
		return nil
	}
	text := fmt.Sprintf("The arguments have %d bytes, and server %s is sent at most %d. Nothing was done. Send less at once.", size, s.Name, s.ArgumentBytes)
	return &tool.Error{Kind: tool.InvalidValue, Text: text, Detail: fmt.Sprintf("got %d bytes of arguments, want at most %d: argument_bytes of server %s", size, s.ArgumentBytes, s.Name), Own: true}
}

// tooLarge refuses a result that is larger than the operator wants any to be. The
// call has been made: the model is told so.
func (s *server) tooLarge(raw []byte) error {
	size := int64(len(raw))
	if s.ResultBytes == 0 || size <= s.ResultBytes {
		return nil
	}
	text := fmt.Sprintf("The result has %d bytes, and at most %d are taken from server %s. The call was made, and may have had its effect. Ask for less at once.", size, s.ResultBytes, s.Name)
	return &tool.Error{Kind: tool.Failed, Text: text, Detail: fmt.Sprintf("got a result of %d bytes, want at most %d: result_bytes of server %s", size, s.ResultBytes, s.Name), Own: true}
}
