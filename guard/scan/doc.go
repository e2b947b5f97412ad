// Package scan finds text that tries to steer a model, and text that a person
// does not see. It knows nothing of tools and can be used alone.
//
//	s, err := scan.New()
//	for _, f := range s.Scan(page) {
//		fmt.Println(f.Rule, f.Family, page[f.Start:f.End])
//	}
//
// A text is read as a model may read it: compatibility forms, look-alike
// letters, zero-width, direction and tag characters, entities, escapes,
// comments inside words, and runs of base64, hexadecimal, binary and percent
// encoding are undone before rules look at it. That is for the scan only:
// findings are spans of the original bytes.
//
// Each rule is a regular expression of bounded length. Rare words that it cannot
// do without are found for all rules at once, in the pass that normalises; the
// expression only confirms, in the neighbourhood of such words. Ordinary text
// costs that one pass and no memory. What a scan could not finish is a finding,
// too ([Unfinished], [Finished]), so that who wants to can refuse on it.
//
// A scan is an honest sign, not a wall: what is written as a plain sentence has
// nothing to be found by.
package scan
