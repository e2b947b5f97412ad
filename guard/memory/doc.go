// Package memory keeps tools from changing what an agent remembers behind its
// back. What stands there is read in later sessions as the agent's own: an
// instruction that a stranger put there stays when the stranger has gone.
//
// The host names regions of memory: a folder ([Dir]), values in this process
// ([Map]), or a [Region] of its own. While calls run, a region holds what it held
// when the first of them began, and what declared operations have made of it since.
// Anything else is a [Breach]: it is put back, and the call fails. When no call
// runs, regions are the host's to change; while one does, it uses [Guard.Change].
//
// What a tool may do is its [Tier]:
//
//   - [Pure] and [NoMemory] change no memory. That is verified by fingerprints,
//     [Region.Hash], before and after.
//   - [Aware] uses the operations of a region that is a [Store], through [From],
//     and no other way. It is verified likewise.
//   - [Unknown] is the default. It is watched: verified likewise.
//   - [Untrusted] is not held to be honest about fingerprints: the region is
//     compared with the snapshot, content by content, before and after.
//
// The snapshot that is restored is taken when the first call begins, and serves as
// long as the fingerprint stays the same. So a call of any tier but Untrusted costs
// two fingerprints.
//
// Calls run side by side, and nobody can tell which of them wrote to a file. So a
// breach is that of every call that was under way when it was found: each of them
// fails, and says so. What is written by a declared operation is expected from that
// moment on, and is a breach of nobody. A call that was given up is under way until
// it has returned. What a call leaves running is watched only while others run.
//
// A region that cannot be looked at before a call keeps it from running; one that
// cannot be looked at after it is put back, and the call fails. One that could not
// be put back lets no call run until it could.
package memory
