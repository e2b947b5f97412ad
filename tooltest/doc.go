// Package tooltest has a conformance test for each seam of Ferrule: who writes a
// store of their own calls it from one of their tests, and has all that the
// comments of the interface promise checked.
//
//	func TestStore(t *testing.T) {
//		tooltest.Blobs(t, func(t *testing.T) durable.Blobs { return open(t) })
//	}
//
// The names of subtests begin with the rule of the specification that they show.
package tooltest
