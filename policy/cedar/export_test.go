package cedar

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
