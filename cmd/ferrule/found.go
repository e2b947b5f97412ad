package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/terminal"
	"github.com/ferrule-dev/ferrule/search"
)

// foundTool is a tool that a search found.
type foundTool struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Score       float64  `json:"score"`
	Meaning     float64  `json:"meaning"`
	Why         string   `json:"why"`
	Alike       []string `json:"alike,omitempty"`
	Description string   `json:"description"`
}

func foundIn(answer search.Answer) []foundTool {
	list := make([]foundTool, len(answer.Hits))
	for i, hit := range answer.Hits {
		d := hit.Document
		list[i] = foundTool{Name: d.ID, Source: d.Source, Score: hit.Score, Meaning: hit.Angle, Why: hit.Why(), Description: d.Description}
		for _, a := range hit.Alike {
			list[i].Alike = append(list[i].Alike, a.ID)
		}
	}
	return list
}

// row are the cells of a table.
func (f *foundTool) row() []string {
	first, _, _ := strings.Cut(strings.TrimSpace(f.Description), "\n")
	why := f.Why
	if len(f.Alike) > 0 {
		why += "; much the same: " + strings.Join(f.Alike, " ")
	}
	return []string{f.Name, strconv.FormatFloat(f.Score, 'f', 2, 64), strings.TrimPrefix(why, "; "), terminal.Brief(first, 60)}
}

// printFound prints a table; on a terminal that has no room for why, which is the
// point of it, each tool in lines of its own.
func (p *program) printFound(list []foundTool) {
	rows := [][]string{{"TOOL", "SCORE", "WHY", "DESCRIPTION"}}
	for i := range list {
		rows = append(rows, list[i].row())
	}
	if terminal.Is(p.stdout) && !hasRoom(rows, p.width()) {
		for _, line := range inLines(rows[1:], p.width()) {
			p.printf("%s\n", line)
		}
		return
	}
	p.printTable(rows)
}

// hasRoom reports whether all columns but the last can be shown whole.
func hasRoom(rows [][]string, width int) bool {
	last := len(rows[0]) - 1
	for i := range last {
		widest := 0
		for _, row := range rows {
			widest = max(widest, terminal.Columns(terminal.Visible(row[i])))
		}
		width -= widest + 2
	}
	return width >= 0
}

// inLines are the rows of a table, each name and score on a line, and the rest below.
func inLines(rows [][]string, width int) (lines []string) {
	for _, row := range rows {
		lines = append(lines, terminal.Cut(terminal.Visible(row[0])+"  "+row[1], width))
		for _, cell := range row[2:] {
			for _, part := range slices.Collect(wrap(terminal.Visible(cell), max(width-2, 20))) {
				if part = strings.TrimRight(part, " "); part != "" {
					lines = append(lines, "  "+part)
				}
			}
		}
	}
	return lines
}
