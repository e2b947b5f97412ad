// Package scripted has a model that plays a conversation from a file, and checks what
// it is sent: for tests of agents, and for a first look at one without a key.
//
// A script is a txtar archive: a comment, then answers, each perhaps behind what the
// model wants to have been sent since its last one.
//
//	A note is read.
//	-- want --
//	what is in a.txt
//	-- answer --
//	? It is small, I read it whole.
//	I look.
//	> fs_read {"path":"a.txt"}
//	-- want --
//	/result fs_read .*: milk/
//	-- answer --
//	Milk.
//
// Each line of a want must be somewhere in it: as it stands, or between slashes as a
// regular expression whose ^ and $ are those of lines. What was sent is, one below the
// other,
//
//	user: what a person said
//	result NAME #ID: what a call gave
//	failed NAME #ID: how it failed
//
// In an answer a line is text that the model says, but for
//
//	? TEXT            a thought
//	> NAME {…}        a call; several are parallel; without arguments they are {}
//	> NAME #ID {…}    one with an id of its own; else it is call_ANSWER_PLACE
//	>! NAME TEXT      one whose arguments are this text, JSON or not
//	! TEXT            the provider fails, in the middle of the answer if it has begun
//	! 429 TEXT        with a status of HTTP; TEXT may be JSON as providers send it
//	cut               the stream breaks off; what came before it was whole
//	cut > NAME        in the middle of a call
//	= STOP            why it ends: length, refusal, pause, other; else end or calls
//	\TEXT             TEXT, whatever it begins with
//
// Behind an answer that ends with pause the model may be asked again at once, with
// nothing sent since.
//
// A model finds its place by the answers that the conversation has already, so a
// conversation that was saved is gone on with in another process. An answer that left
// nothing in the conversation is not given twice by the same [Model]; another one
// begins with it again.
package scripted
