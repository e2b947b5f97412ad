package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// keeping starts commands by a keeper, which it starts when it is needed.
type keeping struct {
	box        *Box
	bubblewrap string // "" means Landlock

	mu     sync.Mutex
	link   *link  // to the keeper, nil before the first command
	plain  string // why there are no namespaces
	spaces bool   // a keeper had them
	closed bool
}

// ready gives the link to a keeper that lives.
func (k *keeping) ready() (*link, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, errClosed
	}
	if k.link != nil && k.link.alive() {
		return k.link, nil
	}
	if k.link != nil {
		k.link.end()
		k.link = nil
	}
	l, err := k.anew()
	if err != nil {
		return nil, fmt.Errorf("sandbox: the keeper does not start: %w", err)
	}
	k.link = l
	return l, nil
}

// anew starts a keeper, in namespaces where they can be had. That was tried once
// where they cannot.
func (k *keeping) anew() (*link, error) {
	s := k.setup()
	if k.plain == "" {
		s.Namespaces = true
		l, err := newLink(s)
		if err == nil {
			k.spaces = true
			if k.bubblewrap != "" {
				l.applied = k.byBubblewrap(l.applied)
			}
			return l, nil
		}
		if k.spaces {
			return nil, err // not less than before: a command may have caused it
		}
		k.plain = err.Error()
		s.Namespaces = false
	}
	l, err := newLink(s)
	if err != nil {
		return nil, err
	}
	if k.bubblewrap != "" {
		l.applied = k.byBubblewrap(l.applied)
	} else {
		l.applied.Missing = append([]string{"there are no user namespaces: " + k.plain}, l.applied.Missing...)
	}
	return l, nil
}

// byBubblewrap is what a command of bubblewrap gets.
func (k *keeping) byBubblewrap(a Applied) Applied {
	a.Level = Namespace
	a.Kernel = []string{"bubblewrap", "user namespace", "process namespace", "mount namespace", "seccomp", "no new privileges", "limits"}
	if a.Network == Loopback {
		a.Differs = append(a.Differs, "each command has a loopback of its own: it does not reach servers that other commands started")
	}
	if a.Network != Open {
		a.Kernel = append(a.Kernel, "network namespace")
	}
	return a
}

func (k *keeping) setup() *setup {
	c := &k.box.config
	mine := writables(c)
	return &setup{
		Network: c.Network, Workspace: c.Workspace, Write: mine[len(c.Workspace)+1:],
		Read: slices.Concat(defaultReads(c.Network, k.box.env, mine), beside(c.Read, mine)), Protected: cleaned(c.Protected), Hidden: cleaned(c.Hidden),
		State: c.State, Limits: k.box.limits, Bubblewrap: k.bubblewrap,
	}
}

func (k *keeping) start(o order) (work, error) {
	const tries = 3
	var err error
	for range tries {
		var l *link
		if l, err = k.ready(); err != nil {
			return nil, err
		}
		var w work
		if w, err = l.start(o); !errors.Is(err, errEnded) {
			return w, err
		}
	}
	return nil, err
}

func (k *keeping) applied() Applied {
	level := Process
	if k.bubblewrap != "" {
		level = Namespace
	}
	if err := k.box.prepare(context.Background()); err != nil {
		return Applied{Level: level, Network: Off, Missing: []string{err.Error()}}
	}
	k.mu.Lock()
	l := k.link
	k.mu.Unlock()
	if l == nil {
		var err error
		if l, err = k.ready(); err != nil {
			return Applied{Level: level, Network: Off, Missing: []string{"nothing can be run: " + err.Error()}}
		}
	}
	a := l.applied
	a.Kernel, a.Missing, a.Differs = slices.Clone(a.Kernel), slices.Clone(a.Missing), slices.Clone(a.Differs)
	return a
}

func (k *keeping) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if k.link == nil {
		return nil
	}
	k.link.end()
	return nil
}
