package flow

import (
	"strconv"
	"strings"
)

// joined are what short values say one behind the other, as a text does that was
// cut into pieces: the entries of each list, and all values of a call.
func joined(all []leaf) []leaf {
	if len(all) < 2 {
		return nil
	}
	var more []leaf
	var every pieces
	lists := map[string]*pieces{}
	var names []string
	for _, l := range all {
		every.add(l)
		if !strings.HasSuffix(l.path, "]") {
			continue
		}
		name := l.path[:strings.LastIndexByte(l.path, '[')]
		if lists[name] == nil {
			lists[name] = &pieces{}
			names = append(names, name)
		}
		lists[name].add(l)
	}
	for _, name := range names {
		more = lists[name].leaves(more, name)
	}
	return every.leaves(more, "arguments")
}

// pieces are values that are joined.
type pieces struct {
	text, bytes strings.Builder
	many        int
}

// maxPiece is how long a value can be that is a piece: of longer ones there is
// enough in each.
const maxPiece = 2 * minRun

func (p *pieces) add(l leaf) {
	if len(l.value) > maxPiece {
		return
	}
	p.many++
	p.text.WriteString(l.value)
	if n, err := strconv.ParseUint(l.value, 10, 8); err == nil && l.number {
		p.bytes.WriteByte(byte(n))
	}
}

// leaves adds what the pieces say: as texts, and as the numbers of bytes.
func (p *pieces) leaves(all []leaf, name string) []leaf {
	if p.many > 1 && p.text.Len() >= gram {
		all = append(all, leaf{path: name, value: p.text.String()})
	}
	if p.bytes.Len() >= minNormal {
		all = append(all, leaf{path: name, value: p.bytes.String()})
	}
	return all
}
