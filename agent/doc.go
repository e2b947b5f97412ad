// Package agent is the loop: ask the model, run its calls, hand back their results,
// and again until it asks for none.
//
//	a := &agent.Agent{Runtime: rt, Model: model, System: "You are terse."}
//	var t agent.Transcript
//	for event, err := range a.Run(ctx, &t, "What is in notes.txt?") {
//		if err != nil { … }
//		if event.Kind == agent.Said {
//			fmt.Print(event.Text)
//		}
//	}
//
// Calls start while the model still talks, each as soon as its input is complete, and
// pass every rule of package ferrule. A [Transcript] is the conversation as a value: it
// can be saved at any moment, and whoever has it goes on, here or on another machine,
// with what waited for a person too. Whenever it is looked at, it is one that a provider
// takes: every call has a result.
//
// Who has a loop of their own needs none of this: ferrule.View.Do runs the calls of an
// answer, and package provider reads and writes what providers send.
package agent
