package mcptool

// This file is about servers of which clients hear nothing at all: what a server says
// in its instructions, prompts and resources reaches the model as its tools do.

// leftWhole reports whether somebody has left the whole server out by an answer for
// it.
func (f *pinFile) leftWhole() bool { return f.Answer != nil && f.Answer.Whole }

// withheld reports whether nothing of the server is for a client that is offered some
// of its tools, or none.
func (s *server) withheld(offered bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hub.Pins != "" && s.tools.tools == nil || s.tools.withheld(offered)
}

// silent reports whether nothing of the server is for any client.
func (s *server) silent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools.silent()
}

// withheld reports whether nothing of the server is for a client: it was left out, or
// has tools and the client is offered none. Those that nobody could be offered, for
// what they are, do not count.
func (c *catalogue) withheld(offered bool) bool {
	if c.out || offered {
		return c.out
	}
	for _, t := range c.tools {
		if t.made != nil {
			return true
		}
	}
	return false
}

func (c *catalogue) silent() bool { return c.withheld(len(c.offered()) > 0) }
