package search

// Ranking is what counts how much. The zero value of an [Index] has that of
// [DefaultRanking], which was chosen on public sets of tools and queries with one
// of them left out at a time.
type Ranking struct {
	// What a word weighs by where it stands.
	Name, Description, Arguments, ArgumentTexts, Tags, Source, About, Examples float64

	Saturation float64 // k1 of BM25: how soon a word that is there again adds little
	Length     float64 // b of BM25: how much a long document has to have more of a word
	Rarity     float64 // the power of a word's idf
	Repeat     float64 // the power of how often the query has a word
	Coverage   float64 // of the name by the query
	Segments   float64 // the share of the segment that fits best, where there are some
	Meaning    float64 // of the angle between the vectors
}

// DefaultRanking is the ranking of an index that has none of its own.
func DefaultRanking() Ranking {
	return Ranking{
		Name: 1.9, Description: 1, Arguments: 0.7, ArgumentTexts: 1.2, Tags: 1, Source: 0.6, About: 0.3, Examples: 0.3,
		Saturation: 1.1, Length: 0.8, Rarity: 1, Repeat: 0.35, Coverage: 0.02, Segments: 0.4, Meaning: 1,
	}
}

func (r *Ranking) fieldWeight(f Field) float64 {
	switch f {
	case InName:
		return r.Name
	case InDescription:
		return r.Description
	case InArguments:
		return r.Arguments
	case InArgumentTexts:
		return r.ArgumentTexts
	case InTags:
		return r.Tags
	case InSource:
		return r.Source
	case InAbout:
		return r.About
	case InExamples:
		return r.Examples
	default:
		return 0
	}
}
