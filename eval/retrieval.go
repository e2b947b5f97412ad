package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// retrievalTool is a definition as one of the sets writes it.
type retrievalTool struct {
	ID, Name, Description string
	Server                string
	ServerDescription     string `json:"server_description"`
	Field, Category       string
	Parameters            json.RawMessage
	InputSchema           json.RawMessage
}

// retrievalQuery is what somebody asked, and the tools that serve it: each of
// GoldTools, or one of each group of GoldAnyOf. With neither, none serves it.
type retrievalQuery struct {
	ID, Query  string
	GoldTools  []string   `json:"gold_tools"`
	GoldAnyOf  [][]string `json:"gold_any_of"`
	Candidates []string
}

// retrievalSet is the tools and queries of one pair of files.
type retrievalSet struct {
	name    string
	tools   []retrievalTool
	queries []retrievalQuery
	first   int // where its tools begin in the joint list
}

// ranker ranks the tools of an index by a query, as their places.
type ranker interface{ rank(query string) []int }

// retrievalFigure is how well a set's queries find their tools, in percent.
type retrievalFigure struct {
	Set      string  `json:"set"`
	Tools    int     `json:"tools"`
	Queries  int     `json:"queries"`
	Recall5  float64 `json:"recall_5"`
	Recall10 float64 `json:"recall_10"`
	NDCG10   float64 `json:"ndcg_10"`
	Baseline float64 `json:"baseline,omitempty"` // NDCG@10 of plain BM25 on the same files
	Gain     float64 `json:"gain,omitempty"`
	Want     float64 `json:"want_gain,omitempty"`
	OK       bool    `json:"ok,omitempty"`
}

// wantedGain is how far above plain BM25 search has to be: on a set alone, and on
// it in one index with others. Sets that nobody knows must not lose.
func (s *retrievalSet) wantedGain(joint bool) float64 {
	want, ok := map[string][2]float64{"bfcl": {9, 10}, "seal": {8.5, 11}, "meta": {5, -1}, "lm": {7, 5}}[s.name]
	switch {
	case !ok:
		return 0
	case joint:
		return want[1]
	}
	return want[0]
}

// retrieval measures how well queries find their tools. Several pairs of files
// share one index over all their tools. What one idea of the search is worth shows
// when it is left out.
func retrieval(out *json.Encoder, files []string) error {
	plain := false
	index := withVectors()
	var unknown string
	files = slices.DeleteFunc(slices.Clone(files), func(a string) bool {
		idea, without := strings.CutPrefix(a, "--without=")
		switch {
		case a == "--baseline":
			plain = true
		case without && !leaveOut(index, idea):
			unknown = idea
		}
		return without || a == "--baseline"
	})
	if unknown != "" {
		return fmt.Errorf("--without: got %q, want one of %s", unknown, strings.Join(slices.Sorted(maps.Keys(ideas())), ", "))
	}
	if len(files) == 0 || len(files)%2 != 0 {
		return fmt.Errorf("got %d files, want pairs of TOOLS and QUERIES", len(files))
	}
	var sets []*retrievalSet
	var all []retrievalTool
	for i := 0; i < len(files); i += 2 {
		set, err := readRetrieval(files[i], files[i+1])
		if err != nil {
			return err
		}
		set.first = len(all)
		all = append(all, set.tools...)
		sets = append(sets, set)
	}
	var found *finder
	if !plain {
		var err error
		if found, err = newFinder(all, index); err != nil {
			return err
		}
	}
	base := newBaseline(all)
	missed, unsure := 0, 0
	for _, set := range sets {
		f := set.measure(base, all)
		if found != nil {
			want, plain := set.wantedGain(len(sets) > 1), f.NDCG10
			f = set.measure(found, all)
			f.Baseline, f.Want, f.Gain = plain, want, math.Round(100*(f.NDCG10-plain))/100
			f.OK = f.Gain >= want || set.name == "seal" && len(sets) == 1 && f.NDCG10 >= 95.5
			if !f.OK {
				missed++
			}
		}
		if found != nil {
			if n, ok := set.none(found); ok {
				if err := out.Encode(n); err != nil {
					return err
				}
				if !n.OK && len(sets) == 1 {
					unsure++
				}
			}
		}
		if err := out.Encode(f); err != nil {
			return err
		}
	}
	if missed+unsure > 0 {
		return fmt.Errorf("%d of %d sets gain less than they must, %d do not tell where no tool fits: %w", missed, len(sets), unsure, errMissed)
	}
	return nil
}

func readRetrieval(tools, queries string) (*retrievalSet, error) {
	set := new(retrievalSet)
	var err error
	if set.tools, err = readLines[retrievalTool](tools); err != nil {
		return nil, err
	}
	if set.queries, err = readLines[retrievalQuery](queries); err != nil {
		return nil, err
	}
	set.name, _, _ = strings.Cut(set.tools[0].ID, "-")
	return set, nil
}

// byName says that a hit is a tool of the same name: in bfcl one function is
// published many times, under ids of their own.
func (s *retrievalSet) byName() bool { return s.name == "bfcl" }

func (s *retrievalSet) measure(r ranker, all []retrievalTool) retrievalFigure {
	f := retrievalFigure{Set: s.name, Tools: len(all)}
	nameOf := make(map[string]string, len(s.tools))
	for _, t := range s.tools {
		nameOf[t.ID] = s.key(t)
	}
	for _, q := range s.queries {
		groups := q.groups(nameOf)
		if len(groups) == 0 {
			continue
		}
		f.Queries++
		seen := make(map[string]bool)
		place, found5, found10, gain := 0, 0, 0, 0.0
		for _, i := range r.rank(q.Query) {
			key := s.key(all[i])
			if seen[key] {
				continue
			}
			seen[key] = true
			if place++; place > 10 {
				break
			}
			hit := slices.IndexFunc(groups, func(g []string) bool { return slices.Contains(g, key) })
			if hit < 0 {
				continue
			}
			groups[hit] = nil
			gain += 1 / math.Log2(float64(place)+1)
			if found10++; place <= 5 {
				found5++
			}
		}
		ideal := 0.0
		for i := range min(len(groups), 10) {
			ideal += 1 / math.Log2(float64(i)+2)
		}
		f.Recall5 += float64(found5) / float64(len(groups))
		f.Recall10 += float64(found10) / float64(len(groups))
		f.NDCG10 += gain / ideal
	}
	for _, v := range []*float64{&f.Recall5, &f.Recall10, &f.NDCG10} {
		*v = math.Round(*v/float64(max(f.Queries, 1))*1e4) / 100
	}
	return f
}

// key is what two tools have in common that count as one.
func (s *retrievalSet) key(t retrievalTool) string {
	if s.byName() {
		return t.Name
	}
	return t.ID
}

// groups are the tools wanted, one of each, by their keys.
func (q retrievalQuery) groups(nameOf map[string]string) [][]string {
	var groups [][]string
	var had []string
	for _, id := range q.GoldTools {
		if key := nameOf[id]; !slices.Contains(had, key) {
			had = append(had, key)
			groups = append(groups, []string{key})
		}
	}
	for _, any := range q.GoldAnyOf {
		var keys []string
		for _, id := range any {
			keys = append(keys, nameOf[id])
		}
		groups = append(groups, keys)
	}
	return groups
}
