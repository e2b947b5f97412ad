package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// A fault is what goes wrong in a turn. It is observed in a process of its own:
// a peer may end the process, or leave goroutines behind.
type fault struct {
	name    string
	observe func(context.Context, peer) (string, error)
}

func faults() []fault {
	return []fault{
		{"the first of three calls panics", panics(0)},
		{"the second of three calls panics", panics(1)},
		{"one of three calls fails", fails},
		{"an unknown tool among known ones", unknownTool},
		{"a required argument is missing", missingArgument},
		{"the first call is the slowest", slowFirst},
		{"two calls of a tool that writes", writers},
		{"two calls have the same id", sameID},
		{"a call fails while others run", stragglers},
		{"cancelled in the middle", cancelled},
		{"cancelled, and a call does not heed it", heedless},
	}
}

const (
	panicText         = "a tool panics"
	errorAmongReplies = "result is an error, others kept"
)

var errTool = errors.New("the tool fails")

func panics(at int) func(context.Context, peer) (string, error) {
	return func(ctx context.Context, p peer) (string, error) {
		var s scene
		s.tool("search", func(ctx context.Context, in args) (reply, error) {
			if in.Path == fmt.Sprint(at+1) {
				panic(panicText)
			}
			return call(ctx, in)
		})
		s.ask("search", "search", "search")
		if err := s.play(ctx, p); err != nil {
			return "", err
		}
		return s.verdict(errorAmongReplies, at), nil
	}
}

func fails(ctx context.Context, p peer) (string, error) {
	var s scene
	s.tool("search", func(ctx context.Context, in args) (reply, error) {
		if in.Path == "2" {
			return reply{}, errTool
		}
		return call(ctx, in)
	})
	s.ask("search", "search", "search")
	if err := s.play(ctx, p); err != nil {
		return "", err
	}
	return s.verdict(errorAmongReplies, 1), nil
}

func unknownTool(ctx context.Context, p peer) (string, error) {
	var s scene
	s.tool("search", call)
	s.ask("search", "research", "search")
	if err := s.play(ctx, p); err != nil {
		return "", err
	}
	return s.verdict(errorAmongReplies, 1), nil
}

func missingArgument(ctx context.Context, p peer) (string, error) {
	var s scene
	s.tool("search", call)
	s.ask("search", "search", "search")
	s.calls[1].input = `{"pattern":"x","limit":1,"recursive":true,"timeout":1,"tags":[]}`
	if err := s.play(ctx, p); err != nil {
		return "", err
	}
	if s.ran.Load() == 3 {
		return "runs without the argument", nil
	}
	return s.verdict(errorAmongReplies, 1), nil
}

// slowFirst keeps the first call until the others are done, or for a while if
// they wait for it.
func slowFirst(ctx context.Context, p peer) (string, error) {
	var s scene
	done := make(chan struct{}, 2)
	s.tool("search", func(ctx context.Context, in args) (reply, error) {
		if in.Path == "1" {
			await(done, 2)
			time.Sleep(patience / 10) // their results are on the way
		} else {
			done <- struct{}{}
		}
		return call(ctx, in)
	})
	s.ask("search", "search", "search")
	if err := s.play(ctx, p); err != nil {
		return "", err
	}
	if text := s.verdict(""); text != "" {
		return text, nil
	}
	for i, r := range s.turn.Results() {
		if r.id != s.calls[i].id {
			return "in order of completion", nil
		}
	}
	return "in order of the calls", nil
}

// writers keeps each call for a while in case the other comes too.
func writers(ctx context.Context, p peer) (string, error) {
	var s scene
	var inside atomic.Int32
	met := make(chan struct{})
	s.tool("write", func(ctx context.Context, in args) (reply, error) {
		defer inside.Add(-1)
		if inside.Add(1) == 2 {
			close(met)
		}
		await(met, 1)
		return call(ctx, in)
	})
	s.ask("write", "write")
	if err := s.play(ctx, p); err != nil {
		return "", err
	}
	if text := s.verdict(""); text != "" {
		return text, nil
	}
	select {
	case <-met:
		return "overlap", nil
	default:
		return "one after the other", nil
	}
}

func sameID(ctx context.Context, p peer) (string, error) {
	var s scene
	s.tool("search", call)
	s.ask("search", "search", "search")
	s.calls[1].id = s.calls[0].id
	if err := s.play(ctx, p); err != nil {
		return "", err
	}
	if text := s.lost(); text != "" {
		return text, nil
	}
	ids, paths := map[string]bool{}, map[string]bool{}
	for _, r := range s.turn.Results() {
		ids[r.id] = true
		if out, ok := r.reply(); ok {
			paths[out.Path] = true
		}
	}
	switch {
	case len(paths) == 3 && len(ids) == 2:
		return "all run, two results with one id", nil
	case len(paths) == 3:
		return "all run, ids made distinct", nil
	}
	return fmt.Sprintf("%d calls run, %d results", s.ran.Load(), len(s.turn.Results())), nil
}

// stragglers lets the first call fail when the others run. These end when they
// are cancelled or, long after, when they are told to.
func stragglers(ctx context.Context, p peer) (string, error) {
	var s scene
	var running atomic.Int32
	started, release := make(chan struct{}, 2), make(chan struct{})
	s.tool("search", func(ctx context.Context, in args) (reply, error) {
		if in.Path == "1" {
			await(started, 2)
			return reply{}, errTool
		}
		running.Add(1)
		defer running.Add(-1)
		started <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return call(ctx, in)
	})
	s.ask("search", "search", "search")
	if err := s.start(ctx, p); err != nil {
		return "", err
	}
	still := int32(0)
	select {
	case <-s.returned:
		still = running.Load()
	case <-time.After(2 * patience): // it may wait for the others, so they have to end
	}
	close(release)
	<-s.returned
	left := s.left()
	if still == 0 && left == 0 {
		return "none left", nil
	}
	return fmt.Sprintf("%d calls still run at return, %d goroutines never end", still, left), nil
}

// cancelled lets the second call cancel the turn when the first is done and the
// third, which waits for that, has started.
func cancelled(ctx context.Context, p peer) (string, error) {
	var s scene
	ready := make(chan struct{}, 2)
	s.tool("search", func(ctx context.Context, in args) (reply, error) {
		switch in.Path {
		case "1":
			ready <- struct{}{}
			return call(ctx, in)
		case "2":
			await(ready, 2)
			s.cancel()
		case "3":
			ready <- struct{}{}
		}
		<-ctx.Done()
		return reply{}, ctx.Err()
	})
	s.ask("search", "search", "search")
	if err := s.play(ctx, p); err != nil {
		return "", err
	}
	fine := "every call has a result"
	if s.late >= time.Second {
		fine += fmt.Sprintf(", after %d s", s.late/time.Second)
	}
	return s.verdict(fine, 1, 2), nil
}

// heedless lets the second call cancel the turn when the others are done, and
// go on as if nothing had happened.
func heedless(ctx context.Context, p peer) (string, error) {
	var s scene
	done, release := make(chan struct{}, 2), make(chan struct{})
	s.tool("search", func(ctx context.Context, in args) (reply, error) {
		if in.Path == "2" {
			await(done, 2)
			s.cancel()
			<-release
		} else {
			done <- struct{}{}
		}
		return call(ctx, in)
	})
	s.ask("search", "search", "search")
	if err := s.start(ctx, p); err != nil {
		return "", err
	}
	defer func() {
		close(release)
		<-s.returned
		s.left()
	}()
	select {
	case <-s.returned:
	case <-time.After(p.givesUp + 3*patience):
		return "waits for the call", nil
	}
	return fmt.Sprintf("gives it up after %d s: %s", s.late/time.Second, s.verdict("every call has a result", 1)), nil
}

// await takes n signs, but does not wait for ever.
func await(signs <-chan struct{}, n int) {
	late := time.After(patience)
	for range n {
		select {
		case <-signs:
		case <-late:
			return
		}
	}
}
