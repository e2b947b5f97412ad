package cedar

import "github.com/ferrule-dev/ferrule/tool"

// MostKept is the bound of what a set keeps.
const MostKept = mostKept

// Kept is for how many tools and callers a set keeps rules, how many of those are
// different, and about how many bytes that is.
func (s *Set) Kept() (known, different, bytes int) {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	all := make(map[*narrowed]bool)
	for _, e := range s.kept.known {
		all[e.narrowed] = true
	}
	return len(s.kept.known), len(all), s.kept.bytes
}

// KeptFor reports whether rules are kept for a request, would its tool have these
// tags and the hash of them be the same.
func (s *Set) KeptFor(q *tool.Request, tags []string) bool {
	k := s.key(q)
	return s.kept.find(&k, tags) != nil
}
