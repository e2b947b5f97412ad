package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// lineLog prints what is logged as lines on standard error, above what the board
// shows.
type lineLog struct {
	board *board
	least slog.Level
	attrs string // that came before, as they are printed
}

// maxLine is how much of one message is printed: servers may write what they want.
const maxLine = 2000

// Enabled reports whether a level is printed.
func (l *lineLog) Enabled(_ context.Context, level slog.Level) bool { return level >= l.least }

// Handle prints a line for each line of the message.
func (l *lineLog) Handle(_ context.Context, r slog.Record) error { //nolint:gocritic // the signature is slog's
	text := r.Message + l.attrs
	r.Attrs(func(a slog.Attr) bool {
		text += attrText(a)
		return true
	})
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	level := ""
	if r.Level >= slog.LevelWarn {
		level = strings.ToLower(r.Level.String()) + ": "
	}
	l.board.print(func() {
		for _, line := range terminal.VisibleLines(strings.TrimRight(text, "\n")) {
			l.board.p.complain("ferrule: " + level + line)
		}
	})
	return nil
}

func attrText(a slog.Attr) string {
	if a.Equal(slog.Attr{}) {
		return ""
	}
	return fmt.Sprintf(" %s=%v", a.Key, a.Value.Resolve().Any())
}

// WithAttrs is a handler that prints these too.
func (l *lineLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *l
	for _, a := range attrs {
		more.attrs += attrText(a)
	}
	return &more
}

// WithGroup is the handler: groups are not printed.
func (l *lineLog) WithGroup(string) slog.Handler { return l }

// Write prints a line that is complete, as the log in JSON is made of.
func (b *board) Write(line []byte) (int, error) {
	b.print(func() { b.p.complain(strings.TrimRight(string(line), "\n")) })
	return len(line), nil
}
