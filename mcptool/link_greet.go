package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// errOtherEra: the server does not speak the era that it was greeted in, and may
// speak the other.
var errOtherEra = errors.New("the server does not speak this era of the protocol")

// Codes of faults that only the new era has.
const (
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// oldVersions are the versions of the old era.
func oldVersions() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", oldVersion}
}

// conn is a connection before its handshake, over any transport. It sends params
// as they are. See link for both methods.
type conn interface {
	do(ctx context.Context, method string, params json.RawMessage, hears *listener) (json.RawMessage, error)
	notify(ctx context.Context, method string, params json.RawMessage) error
}

// greet does the handshake of one era. errOtherEra is in the error's tree where
// the server may speak the other.
func greet(ctx context.Context, c conn, e era, in introduction) (*greeting, error) {
	if e == newEra {
		return greetNew(ctx, c, in)
	}
	return greetOld(ctx, c, in)
}

// greetEither does the handshake of the first era, or of the other if the server
// does not speak that.
//
// Servers of the old era may leave unanswered what comes before initialize: after
// patience they are sent that too, and what is answered first counts. 0: they are
// waited for until ctx ends. A server of the new era always answers initialize.
func greetEither(ctx context.Context, c conn, first era, in introduction, patience time.Duration) (*greeting, error) {
	if first == oldEra {
		said, err := greetOld(ctx, c, in)
		if !errors.Is(err, errOtherEra) {
			return said, err
		}
		return greetNew(ctx, c, in)
	}
	if patience == 0 {
		said, err := greetNew(ctx, c, in)
		if !errors.Is(err, errOtherEra) {
			return said, err
		}
		return greetOld(ctx, c, in)
	}
	return greetBoth(ctx, c, in, patience)
}

// greetBoth asks in the new era, and after patience in the old one too.
func greetBoth(ctx context.Context, c conn, in introduction, patience time.Duration) (*greeting, error) {
	type outcome struct {
		said *greeting
		err  error
	}
	ask := func(ctx context.Context, f func(context.Context, conn, introduction) (*greeting, error)) <-chan outcome {
		came := make(chan outcome, 1)
		go func() {
			said, err := f(ctx, c, in)
			came <- outcome{said, err}
		}()
		return came
	}
	both, stop := context.WithCancel(ctx)
	discovered := ask(both, greetNew)
	var (
		initialized <-chan outcome
		noNew       error // why it is not the one,
		noOld       error // or not the other
	)
	defer func() { // who starts them waits for them: do returns at once
		stop()
		for _, c := range []<-chan outcome{discovered, initialized} {
			if c != nil {
				<-c
			}
		}
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case <-late.C:
			initialized = ask(both, initialize)
		case o := <-discovered:
			discovered = nil
			if initialized == nil && noOld == nil { // it was not asked yet
				if !errors.Is(o.err, errOtherEra) {
					return o.said, o.err
				}
				return greetOld(ctx, c, in)
			}
			if noNew = o.err; o.err == nil {
				return o.said, nil
			}
		case o := <-initialized:
			initialized = nil
			if o.err == nil {
				return o.said, c.notify(ctx, notificationInitialized, nil)
			}
			noOld = o.err
		}
		if noNew != nil && noOld != nil {
			// That it may have the other era is no news here: only noOld is wrapped.
			return nil, fmt.Errorf("the server was greeted in both eras: %s; %w", noNew.Error(), noOld)
		}
	}
}

// greetOld does the handshake of the old era.
func greetOld(ctx context.Context, c conn, in introduction) (*greeting, error) {
	said, err := initialize(ctx, c, in)
	if err != nil {
		return nil, err
	}
	if err := c.notify(ctx, notificationInitialized, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", notificationInitialized, err)
	}
	return said, nil
}

// initialize is the first half of the handshake.
func initialize(ctx context.Context, c conn, in introduction) (*greeting, error) {
	version := oldVersion
	if slices.Contains(oldVersions(), in.version) {
		version = in.version
	}
	params := setMembers(nil,
		pair{"protocolVersion", quote(version)},
		pair{"capabilities", in.clientCapabilities()},
		pair{"clientInfo", in.clientInfo()})
	raw, err := c.do(ctx, methodInitialize, params, nil)
	if f, ok := errors.AsType[*Fault](err); ok && saysOther(f) {
		return nil, fmt.Errorf("%w: initialize: %w", errOtherEra, err)
	}
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	said := greetingOf(oldEra, raw)
	said.version = textMember(raw, "protocolVersion")
	said.info, _ = member(raw, "serverInfo")
	if said.version == newVersion {
		return nil, fmt.Errorf("%w: initialize was answered with version %s", errOtherEra, newVersion)
	}
	if !slices.Contains(oldVersions(), said.version) {
		return nil, fmt.Errorf("initialize: got protocol version %q, want one of %q", short(said.version), oldVersions())
	}
	return said, nil
}

// saysOther reports whether a server that answers initialize so may have only the
// new era. Its other faults are its own.
func saysOther(f *Fault) bool {
	switch f.Code {
	case codeNoMethod, codeInvalid, codeInvalidParams, codeHeaderMismatch, codeMissingCapability, codeUnsupportedVersion:
		return true
	}
	return false
}

// greetNew asks a server of the new era what it is. Any fault says that it has
// only the old one: there is no reason to refuse this.
func greetNew(ctx context.Context, c conn, in introduction) (*greeting, error) {
	raw, err := c.do(ctx, methodDiscover, withIntroduction(nil, newVersion, in), nil)
	if _, ok := errors.AsType[*Fault](err); ok {
		return nil, fmt.Errorf("%w: %s: %w", errOtherEra, methodDiscover, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", methodDiscover, err)
	}
	list, _ := member(raw, "supportedVersions")
	versions, _ := items(list)
	if !slices.ContainsFunc(versions, func(v json.RawMessage) bool { text, _ := unquote(v); return text == newVersion }) {
		return nil, fmt.Errorf("%w: %s: got versions %s, want %s among them", errOtherEra, methodDiscover, short(string(list)), newVersion)
	}
	said := greetingOf(newEra, raw)
	said.version = newVersion
	if said.info, _ = metaMember(raw, metaServerInfo); said.info == nil {
		said.info, _ = member(raw, "serverInfo")
	}
	return said, nil
}

func greetingOf(e era, raw json.RawMessage) *greeting {
	said := &greeting{era: e, raw: raw, instructions: textMember(raw, "instructions")}
	said.capabilities, _ = member(raw, "capabilities")
	return said
}
