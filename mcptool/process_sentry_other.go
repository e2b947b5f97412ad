//go:build !unix

package mcptool

// sentry is not needed: a child's job ends with this program.
type sentry struct{ gone chan struct{} }

func startSentry() (*sentry, error) { return &sentry{make(chan struct{})}, nil }

func (*sentry) begun(int) error { return nil }
func (*sentry) ended(int) error { return nil }
func (s *sentry) wait()         { <-s.gone }
func (s *sentry) close()        { close(s.gone) }
func (s *sentry) kill()         { close(s.gone) }
