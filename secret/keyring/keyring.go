// Package keyring reads secrets from, and puts them into, the keyring of the operating system: the
// Secret Service on Linux and BSD, the Keychain on macOS, the Credential Manager
// on Windows. It is apart from package secret so that a program which does not
// want it does not link it.
package keyring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/ferrule-dev/ferrule/secret"
)

// answerTime is how long a keyring may take. It may ask a person to unlock it, and
// one that cannot hangs.
const answerTime = 20 * time.Second

// New is the value that the keyring keeps for an account of a service. Where no
// keyring answers within 20 seconds, or none is there, the error says so.
func New(service, account string) secret.Source {
	return entry{service, account, keyring.Get}
}

type entry struct {
	service, account string
	get              func(service, account string) (string, error)
}

var _ secret.Source = entry{}

func (e entry) String() string { return fmt.Sprintf("keyring %s/%s", e.service, e.account) }

// Value asks on a goroutine of its own. One whose keyring never answers is left
// behind: it cannot be ended.
func (e entry) Value(ctx context.Context) (secret.Value, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("it did not answer within %s: is it unlocked?", answerTime))
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	back := make(chan answer, 1)
	go func() {
		text, err := e.get(e.service, e.account)
		back <- answer{text, err}
	}()
	select {
	case a := <-back:
		switch {
		case errors.Is(a.err, keyring.ErrNotFound):
			return secret.Value{}, fmt.Errorf("%s: there is no such entry", e)
		case a.err != nil:
			return secret.Value{}, fmt.Errorf("%s: no keyring answers on this machine: %w", e, a.err)
		}
		return secret.NewValue([]byte(a.text)), nil
	case <-ctx.Done():
		return secret.Value{}, fmt.Errorf("%s: %w", e, context.Cause(ctx))
	}
}

// Put has the keyring keep a value for an account of a service, in the place of one
// that it has. It waits as long as [New] does.
func Put(ctx context.Context, service, account, value string) error {
	return put(ctx, service, account, value, keyring.Set)
}

// put asks on a goroutine of its own, like Value.
func put(ctx context.Context, service, account, value string, set func(service, account, value string) error) error {
	name := entry{service: service, account: account}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("it did not answer within %s: is it unlocked?", answerTime))
	defer cancel()
	back := make(chan error, 1)
	go func() { back <- set(service, account, value) }()
	select {
	case err := <-back:
		if err != nil {
			return fmt.Errorf("%s: no keyring takes it on this machine: %w", name, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", name, context.Cause(ctx))
	}
}
