// Package search finds tools by words and by meaning among thousands. It knows
// nothing of tools and imports nothing: a tool is a [Document] here.
//
//	var x search.Index // words alone
//	x.Embedder = vectors.Embedder() // and meaning
//	err := x.Set(ctx, "github", issues, pulls)
//	answer := x.Search(ctx, search.Query{Text: "what is open in my repository?"})
//	for _, h := range answer.Hits {
//		fmt.Println(h.Document.Name, h.Why())
//	}
//
// Words are counted as BM25 with fields does, with one length for a document
// that is the weighted sum over its fields: a length for each field would favour
// tools that have parameters. A query that is long is cut into segments, and what
// serves one of them well is as good as what serves the whole a little. Meaning is
// the angle between two vectors, of the query and of the document; it orders the
// best by words anew, and stands alone where words find little.
//
// An index is changed in place: [Index.Set] touches the documents of one source
// that differ from what was there, and gives the same answers as a new index
// would. Searches may run meanwhile. All that is read is bounded: a query may be
// of any length, of any bytes and in any script.
package search
