// Package guard keeps what strangers write from turning an agent, and what is
// private from going where it should not. It sees [tool.Request] and [tool.Result],
// never a tool that could run.
//
// A [Guard] is what a runtime is given. What tools return passes it on the way to
// the model, by how far its source is trusted:
//
//   - guard/scan looks for text that tries to steer a model, and for text that a
//     person does not see. Findings are told, stripped or refused ([Sanitizing]),
//     and what strangers wrote is wrapped, so that it cannot pass for anything else.
//   - guard/redact takes keys, tokens and personal data out, by span, with
//     placeholders that the model can refer to.
//   - A [Sink] says how sensitive what it is given may be.
//   - guard/flow asks a person before data goes where nobody sent it. That does not
//     depend on recognising an attack.
//   - guard/memory puts back what tools change in an agent's memory, unless that was
//     declared.
//
// The zero Guard has the defaults of all of them.
package guard
