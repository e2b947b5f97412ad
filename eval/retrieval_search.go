package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/ferrule-dev/ferrule/search"
	"github.com/ferrule-dev/ferrule/search/vectors"
)

// finder is Ferrule's search over the tools of one or more sets.
type finder struct {
	index *search.Index
	limit int
}

// newFinder indexes tools; their IDs are their places.
func newFinder(tools []retrievalTool, index *search.Index) (*finder, error) {
	bySource := make(map[string][]search.Document)
	for i, t := range tools {
		bySource[t.Server] = append(bySource[t.Server], t.document(i))
	}
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		if err := index.Set(context.Background(), source, bySource[source]...); err != nil {
			return nil, err
		}
	}
	return &finder{index, 50}, nil
}

func (f *finder) rank(query string) []int {
	var places []int
	for _, h := range f.index.Search(context.Background(), search.Query{Text: query, Limit: f.limit}).Hits {
		place, err := strconv.Atoi(h.Document.ID)
		if err == nil {
			places = append(places, place)
		}
	}
	return places
}

// withVectors is an index that ships with the program.
func withVectors() *search.Index { return &search.Index{Embedder: vectors.Embedder()} }

// ideas are what can be left out of the search.
func ideas() map[string]func(*search.Ranking) {
	return map[string]func(*search.Ranking){
		"fields":    func(r *search.Ranking) { r.Name, r.Arguments, r.ArgumentTexts, r.Source, r.About = 1, 1, 1, 1, 1 },
		"arguments": func(r *search.Ranking) { r.Arguments, r.ArgumentTexts = 0, 0 },
		"sources":   func(r *search.Ranking) { r.Source, r.About = 0, 0 },
		"length":    func(r *search.Ranking) { r.Length = 0 },
		"repeat":    func(r *search.Ranking) { r.Repeat = 1 },
		"coverage":  func(r *search.Ranking) { r.Coverage = 0 },
		"segments":  func(r *search.Ranking) { r.Segments = 0 },
		"meaning":   nil,
	}
}

// leaveOut takes an idea out of an index; false: there is none of this name.
func leaveOut(index *search.Index, idea string) bool {
	change, ok := ideas()[idea]
	if !ok {
		return false
	}
	if change == nil {
		index.Embedder = nil
		return true
	}
	if index.Ranking == (search.Ranking{}) {
		index.Ranking = search.DefaultRanking()
	}
	change(&index.Ranking)
	return true
}

// document is what a runtime makes of a tool.
func (t *retrievalTool) document(place int) search.Document {
	return search.Document{ID: strconv.Itoa(place), Name: t.Name, Description: t.Description, About: t.ServerDescription, Arguments: search.Arguments(t.schema())}
}

// schema is that of its arguments. One of the sets has a plain list of them by name.
func (t *retrievalTool) schema() json.RawMessage {
	schema := t.InputSchema
	if len(schema) == 0 {
		schema = t.Parameters
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(schema, &object) == nil && object["properties"] == nil {
		return slices.Concat([]byte(`{"properties":`), schema, []byte("}"))
	}
	return schema
}
