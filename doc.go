// Package ferrule runs the tool calls of AI agents. A model asks for calls;
// Ferrule decides which may run, runs them as far side by side as is safe,
// keeps what they return small and clean, and writes down what happened.
//
// Two laws carry it. What a tool does not claim is not assumed: a missing
// field, a panic, an error, a time-out, an unknown value each fall to the
// strict side. And N calls in, N results out, in the order of the calls,
// whatever happens.
//
// The runtime itself is not here yet. What exists are the nouns it will stand
// on: package tool says what a tool, a call and a result are, and package
// schema checks what a model sends.
package ferrule
