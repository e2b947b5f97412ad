// Package redact takes keys, tokens and personal data out of texts, and puts a
// placeholder in their place that a model can still refer to:
//
//	export KEY=AKIA…          export KEY=[SECRET:aws-key:1]
//	mail ann@example.org      mail [PERSONAL:email:1]
//
// A [Redactor] is made for one session. In it a value has one placeholder, wherever
// it turns up, and [Redactor.Restore] puts it back for who may have it. Only a
// placeholder that this session gave out means a value; another text of the same
// form means nothing, and is never given out afterwards.
//
// Keys and tokens are found by a [Scanner] (package guard/leaks has one), by the
// form of private keys, and where a value of the session stands again, now without
// what it was recognised by. Personal data is found by its form: a check digit, a
// length, the words before it. Names and places have no form, and are not found.
//
// A text is looked at line by line, private keys as a whole, and lines of more than
// 16 KiB in parts. So a [Stream] gives the same however its text is cut, as long as
// a value has at most 4 KiB. What the text says of a value on another line, or a
// value that is split over lines, is not seen.
//
// All of it fails closed: without a scanner, or with one that cannot finish, there
// is an error and no text.
package redact
