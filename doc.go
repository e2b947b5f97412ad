// Package ferrule runs the tool calls of AI agents. A model asks for calls;
// Ferrule decides which may run, runs them as far side by side as is safe,
// keeps what they return small and free of the secrets they used, marks and looks
// through what strangers wrote, and tells an observer what happened.
//
// Two laws carry it. What a tool does not claim is not assumed: a missing
// field, a panic, an error, a time-out, an unknown value each fall to the
// strict side. And N calls in, N results out, in the order of the calls,
// whatever happens.
//
//	rt := &ferrule.Runtime{Policy: policy.AllowOwn{}} // fields come before the first Add
//	if err := rt.Add(read, write); err != nil { … }
//	session := rt.Session(tool.Caller{})
//	defer session.Close(ctx) // it is kept until then
//
//	view := session.View(ctx)                            // once for each turn
//	definitions, err := view.Definitions(ferrule.JSON{}) // to the model
//	for _, result := range view.Do(ctx, calls...) {
//		send(result.CallID, result.String(), result.Err != nil) // back to the model
//	}
//
// What goes back to the model is [tool.Result.String] and whether Err is nil. Of
// most errors Content is empty: their text is in Err. As JSON a result holds
// Detail, which is for operators and not for a model.
//
// A [Runtime] holds the tools and the rules. A [Session] is one conversation. A
// [View] is what one agent is offered for one turn, and nothing else can be
// called through it. A [Turn] is one answer of the model and its calls.
//
// Every call goes the same way, which life.go tells from top to bottom: its
// name is resolved, its arguments are checked against the schema, then for their
// meaning; the rules, the host and the tool decide; input hooks look; a person
// is asked if need be; the tool runs inside its wrappers; its output is checked,
// seen by output hooks, cleaned, scrubbed of secrets, limited, and told to the
// observer. No setting takes a phase away or puts it elsewhere.
//
// A result that is too long is kept whole where there is a store, and the model
// reads it page by page with the tool read_result: offload.go. [View.Stream] runs
// calls while the model still talks: stream.go. A call that is made again and
// again with the same result is a loop: loop.go.
//
// Which call may start when is one rule, in schedule.go: a call starts when
// every earlier one of its turn that it conflicts with has ended. What a tool
// claims decides what conflicts. Turns of one session that run at the same time
// are not ordered with each other.
package ferrule
