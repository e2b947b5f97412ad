// Package ferrule runs the tool calls of AI agents. A model asks for calls;
// Ferrule decides which may run, runs them as far side by side as is safe,
// keeps what they return small and clean, and writes down what happened.
//
// Two laws carry it. What a tool does not claim is not assumed: a missing
// field, a panic, an error, a time-out, an unknown value each fall to the
// strict side. And N calls in, N results out, in the order of the calls,
// whatever happens.
//
//	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}}
//	if err := rt.Add(read, write); err != nil { … }
//	session := rt.Session(tool.Caller{})
//
//	view := session.View(ctx)                            // once for each turn
//	definitions, err := view.Definitions(ferrule.JSON{}) // to the model
//	results := view.Do(ctx, calls...)                    // back to the model
//
// A [Runtime] holds the tools and the rules. A [Session] is one conversation. A
// [View] is what one agent is offered for one turn, and nothing else can be
// called through it. A [Turn] is one answer of the model and its calls.
//
// Every call goes the same way, which life.go tells from top to bottom: its
// name is resolved, its arguments are checked against the schema, then for their
// meaning; the rules, the host and the tool decide; input hooks look; a person
// is asked if need be; the tool runs inside its wrappers; its output is checked,
// seen by output hooks, cleaned, limited, and told to the observer. No setting
// takes a phase away or puts it elsewhere.
//
// Which call may start when is one rule, in schedule.go: a call starts when
// every earlier one that it conflicts with has ended. What a tool claims decides
// what conflicts.
package ferrule
