package config

import "strings"

// hint names the known key that is nearest to one, or else all of them.
func hint(key string, known []string) string {
	best, far := "", 1+max(len(key), 3)/3 // a third may differ
	for _, k := range known {
		if d := distance(strings.ToLower(key), k); d < far || d == far && best == "" {
			best, far = k, d
		}
	}
	if best != "" {
		return `: did you mean "` + best + `"?`
	}
	return ", want one of " + strings.Join(known, ", ")
}

// distance is how many letters must be changed, added, taken away or swapped
// with their neighbour to make one text of the other.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 {
		return len(x)
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := range x {
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			d := min(rows[i][j+1]+1, rows[i+1][j]+1, rows[i][j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(x)][len(y)]
}
