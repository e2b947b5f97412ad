// Package provider reads and writes what the APIs of model providers send:
// Anthropic's Messages, OpenAI's Responses and Chat Completions (and whatever is
// compatible with it), Gemini's generateContent. It needs no SDK and opens no
// connection: everything is a function from bytes to values, or back.
//
//	body, err := provider.Anthropic{}.WriteRequest(request) // to be sent
//	…
//	answer, err := provider.Anthropic{}.Stream(response.Body, func(d provider.Delta) {
//		if d.Kind == provider.DeltaCall {
//			turn.Add(d.Call) // its input is complete; the model may still talk
//		}
//	})
//
// A conversation is the same for all of them: messages of parts. What only one
// provider knows (a signed thought, a search that ran at its side) is kept as it
// came, and goes back to that provider alone.
//
// A call is told when its input is complete, and never before: of a stream that
// breaks, the answer holds what was whole.
package provider
