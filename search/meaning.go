package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Embedder tells what texts mean, as vectors: those of texts that mean the same
// point the same way. All are of one length.
type Embedder struct {
	// Documents gives a vector for each document: which of its texts count, and how
	// much, is the embedder's business. A vector that is nil or zero means nothing.
	Documents func(context.Context, []Document) ([][]float32, error)
	// Queries gives a vector for each text: a query, and its segments if it is long.
	Queries func(context.Context, []string) ([][]float32, error)
	// Batch is how many documents it is given at once; 0: 64.
	Batch int
	// Wait is how long a search waits for the vectors of its query, before it
	// answers by words alone. 0: a second.
	Wait time.Duration
	// Local: it asks nobody outside of this machine.
	Local bool
}

// Patience is how long a search waits for it.
func (e *Embedder) Patience() time.Duration {
	if e.Wait <= 0 {
		return time.Second
	}
	return e.Wait
}

// Embedders that fail are left alone for a while, and those that have not returned
// from so many searches, which have given up, are not asked.
const (
	restAfterFault = 10 * time.Second
	maxStuck       = 32
)

// embedding is the state of asking an embedder.
type embedding struct {
	mu    sync.Mutex
	stuck int
	rests time.Time // until then it is not asked
}

var (
	errResting = errors.New("the embedder failed a moment ago")
	errBusy    = errors.New("the embedder has not answered earlier searches")
	errSlow    = errors.New("the embedder took too long")
	errEnded   = errors.New("the embedder ended its goroutine")
)

// vector is a direction: numbers in bytes, and what makes their length 1.
type vector struct {
	numbers []int8
	scale   float32
}

// maxDims is how many numbers a vector may have.
const maxDims = 16 << 10

func quantise(v []float32) *vector {
	if len(v) > maxDims {
		return nil
	}
	most, squares := float32(0), 0.0
	for _, f := range v {
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return nil
		}
		most = max(most, f, -f)
	}
	if most == 0 {
		return nil
	}
	q := &vector{numbers: make([]int8, len(v))}
	for i, f := range v {
		n := math.Round(float64(f / most * 127))
		q.numbers[i] = int8(n)
		squares += n * n
	}
	q.scale = float32(1 / math.Sqrt(squares))
	return q
}

// directions are the vectors of all documents, side by side.
type directions struct {
	dims    int       // as many as the first has
	numbers []int8    // dims for each slot
	scales  []float32 // by slot; 0: it has none
}

// put keeps the vector of a slot; nil, or one of another length: it has none.
func (d *directions) put(slot uint32, v *vector) {
	if v == nil || d.dims != 0 && len(v.numbers) != d.dims {
		if int(slot) < len(d.scales) {
			d.scales[slot] = 0
		}
		return
	}
	d.dims = len(v.numbers)
	if n := int(slot) + 1; n > len(d.scales) {
		d.scales = append(d.scales, make([]float32, n-len(d.scales))...)
		d.numbers = append(d.numbers, make([]int8, n*d.dims-len(d.numbers))...)
	}
	copy(d.numbers[int(slot)*d.dims:], v.numbers)
	d.scales[slot] = v.scale
}

func (d *directions) has(slot uint32) bool { return int(slot) < len(d.scales) && d.scales[slot] != 0 }

// angle is the cosine of the angle between a vector and that of a slot; 0 if there
// is none.
func (d *directions) angle(v *vector, slot uint32) float64 {
	if v == nil || len(v.numbers) != d.dims || !d.has(slot) {
		return 0
	}
	x := v.numbers
	y := d.numbers[int(slot)*d.dims:][:len(x)]
	var s0, s1, s2, s3 int32
	i := 0
	for ; i+8 <= len(x); i += 8 { // arrays, so that one check serves eight numbers
		p, q := (*[8]int8)(x[i:]), (*[8]int8)(y[i:])
		s0 += int32(p[0])*int32(q[0]) + int32(p[4])*int32(q[4])
		s1 += int32(p[1])*int32(q[1]) + int32(p[5])*int32(q[5])
		s2 += int32(p[2])*int32(q[2]) + int32(p[6])*int32(q[6])
		s3 += int32(p[3])*int32(q[3]) + int32(p[7])*int32(q[7])
	}
	for ; i < len(x); i++ {
		s0 += int32(x[i]) * int32(y[i])
	}
	return float64(float32(s0+s1+s2+s3) * v.scale * d.scales[slot])
}

// means asks for the vectors of a query's texts; nil with an error: words alone
// are to answer.
func (x *Index) means(ctx context.Context, texts []string) ([]*vector, error) {
	e := x.Embedder
	x.embeds.mu.Lock()
	switch {
	case time.Now().Before(x.embeds.rests):
		x.embeds.mu.Unlock()
		return nil, errResting
	case x.embeds.stuck >= maxStuck:
		x.embeds.mu.Unlock()
		return nil, errBusy
	}
	x.embeds.mu.Unlock()

	caller := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, e.Patience(), errSlow)
	defer cancel()
	type answer struct {
		vectors []*vector
		err     error
	}
	done := make(chan answer)
	gone := make(chan struct{})
	// An embedder that does not heed its context is not waited for.
	go func() {
		a := answer{err: errEnded}
		defer func() {
			select {
			case done <- a:
			case <-gone:
				x.embeds.mu.Lock()
				defer x.embeds.mu.Unlock()
				x.embeds.stuck--
			}
		}()
		a.vectors, a.err = check(texts)(e.Queries(ctx, texts))
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		x.embeds.mu.Lock()
		x.embeds.stuck++
		x.embeds.mu.Unlock()
		close(gone)
		if a.err = context.Cause(ctx); errors.Is(a.err, errSlow) {
			a.err = fmt.Errorf("%w: more than %v", errSlow, e.Patience())
		}
	}
	if a.err != nil && caller.Err() == nil { // who stops searching says nothing about it
		x.embeds.mu.Lock()
		x.embeds.rests = time.Now().Add(restAfterFault)
		x.embeds.mu.Unlock()
	}
	return a.vectors, a.err
}

// check makes vectors of what an embedder answered to texts.
func check(texts []string) func([][]float32, error) ([]*vector, error) {
	return func(got [][]float32, err error) ([]*vector, error) {
		if err == nil && len(got) != len(texts) {
			err = fmt.Errorf("got %d vectors, want %d", len(got), len(texts))
		}
		if err != nil {
			return nil, fmt.Errorf("embed a query: %w", err)
		}
		made := make([]*vector, len(got))
		for i, v := range got {
			made[i] = quantise(v)
		}
		return made, nil
	}
}
