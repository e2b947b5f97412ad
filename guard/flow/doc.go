// Package flow keeps data from going where nobody wants it. It sees
// [tool.Request] and [tool.Result], never a tool that could run.
//
// # Data flow
//
// [Rules] say how the flow of data is watched; a [Ledger] is what one session
// knows: which results were written by strangers, which are private, what the
// person asked for. [Ledger.Note] takes a result in, [Ledger.Judge] looks at a call
// before it runs. Three flows are asked for:
//
//   - (a) an argument holds what came from an untrusted or a sensitive result, and
//     leaves for a tool that reaches outside,
//   - (b) untrusted content and private data stand in the session, and the call is a
//     way out,
//   - (c) the call destroys, or touches credentials, after untrusted content.
//
// How closely (a) looks depends on what is known of the tool. One that its author, its
// claims or a label have reach outside is asked for with every copy. Of a stranger's
// tool that claims nothing nobody knows: it is asked for with content, addresses,
// accounts and keys of another source, and with a destination that strangers chose;
// words and paths, which tools of one machine share, are not, nor is what goes back
// to its own source.
//
// None of them depends on recognising an attack. A destination that the person
// named is trusted, and each flow is asked for once per destination.
package flow
