package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

const methodCall = "tools/call"

// run is the Run of a server's tool, as the server defined it.
func (s *server) run(ctx context.Context, as *tool.Info, a tool.Args) (tool.Result, error) {
	if err := s.tooMuch(a); err != nil {
		return tool.Result{}, err
	}
	if err := s.current(ctx, as); err != nil {
		return tool.Result{}, s.failure(ctx, err)
	}
	x := exchangeFrom(ctx)
	if x == nil {
		own, done := s.ownExchange(ctx)
		defer done()
		x = own
	}
	result, err := s.do(ctx, x, methodCall, callParams(x.params(), as.Name, a))
	if err == nil {
		if err := s.tooLarge(result); err != nil {
			return tool.Result{}, err
		}
		made, err := callResult(result)
		x.finished(answered{raw: result, result: made, err: err, from: s, tool: as.Name})
		return made, err
	}
	if fault := (*Fault)(nil); errors.As(err, &fault) {
		x.finished(answered{fault: fault, from: s, tool: as.Name})
	}
	return tool.Result{}, s.failure(ctx, err)
}

// callParams are the params of a call: the name and the arguments that the rules
// have seen, and the client's _meta. Nothing else of the client's goes with them: a
// server may read "Name" as the name, or run the call as a task that nobody
// watches. Arguments that were left out stay so.
func callParams(params json.RawMessage, name string, a tool.Args) json.RawMessage {
	set := []pair{{"name", quote(name)}}
	if _, ok := member(params, "arguments"); ok || strings.TrimSpace(a.Received()) != "" || a.Text() != "{}" {
		set = append(set, pair{"arguments", json.RawMessage(a.Text())})
	}
	if meta, ok := member(params, "_meta"); ok {
		set = append(set, pair{"_meta", meta})
	}
	return setMembers(nil, set...)
}

// failure is what a model is told of a call without a result.
func (s *server) failure(ctx context.Context, err error) error {
	fault, rest := (*Fault)(nil), (*pausedError)(nil)
	e := &tool.Error{Kind: tool.Failed, Detail: err.Error(), Cause: err, Own: true}
	switch {
	case errors.As(err, &rest):
		e.Text = fmt.Sprintf("Server %s is not asked now: %s; %s. Nothing was done.", s.Name, rest.why, rest.next())
	case errors.As(err, &fault):
		e.Text, e.Own = fault.Message, false
	case errors.Is(err, errTimeout):
		e.Kind = tool.Timeout
		e.Text = fmt.Sprintf("Server %s did not answer within %s. The call may still have had its effect.", s.Name, s.timeout())
	case ctx.Err() != nil:
		return err
	case errors.Is(err, errUnauthorized):
		e.Text = fmt.Sprintf("Server %s wants a login that it was not given. Nothing was done.", s.Name)
	case unsafely(err):
		e.Kind = tool.Sandbox
		e.Text = fmt.Sprintf("Server %s cannot be isolated as it must be here, so it does not run. Nothing was done.", s.Name)
	case errors.Is(err, errBusy):
		e.Text = fmt.Sprintf("Server %s has no room for this call: too many of this or other clients wait for input, or keep it busy. Nothing was done. Try again later.", s.Name)
	case errors.Is(err, errNotCurrent):
		e.Text = fmt.Sprintf("This tool of server %s has changed, or is gone, since the call was made or allowed. Nothing was done. List the tools anew.", s.Name)
	case errors.Is(err, errUnlisted):
		e.Text = fmt.Sprintf("Server %s has not said in time what its tools are now. Nothing was done. Try again later.", s.Name)
	case errors.Is(err, errUnreachable), errors.Is(err, errUnsent):
		e.Text = fmt.Sprintf("Server %s cannot be reached now. Nothing was done.", s.Name)
	case errors.Is(err, errExpired):
		e.Text = fmt.Sprintf("Server %s asked for input, which did not come in time, so the call was given up. It may or may not have had an effect.", s.Name)
	case errors.Is(err, errNoInput):
		e.Text = err.Error()
	case errors.Is(err, errLong):
		e.Text = fmt.Sprintf("The answer of server %s was not taken: %s. The call has run: ask for less.", s.Name, long(err))
	default:
		e.Text = fmt.Sprintf("The connection to server %s broke while the call ran. It may or may not have happened.", s.Name)
		e.Cause = errors.New(e.Detail) // not the error of a pipe or socket: of a call that reads, the runtime would send it again
	}
	return e
}

// long says of an answer that was too long how long it may be.
func long(err error) string {
	if e, ok := errors.AsType[*longMessage](err); ok {
		return e.Error()
	}
	return errLong.Error()
}
