//go:build !unix

package mcptool

// sentry is not needed: a child's job ends with this program.
type sentry struct{}

func startSentry() (*sentry, error) { return new(sentry), nil }

func (*sentry) begun(int) error { return nil }
func (*sentry) ended(int) error { return nil }
func (*sentry) close()          {}
func (*sentry) kill()           {}
