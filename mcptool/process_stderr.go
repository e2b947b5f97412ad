package mcptool

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// maxStderrLine is how much of a line is logged, in bytes.
	maxStderrLine = 4 << 10
	// maxStderrLines is how many lines are logged in stderrTime.
	maxStderrLines = 100
	stderrTime     = 10 * time.Second
)

// stderrLog logs what a child writes to standard error, line by line, as far as it
// is not too much.
type stderrLog struct {
	ctx context.Context //nolint:containedctx // of the log only; it does not end
	log *slog.Logger
	// clean takes what is secret out of a line, before it is cut.
	clean func(string) string

	since  time.Time // of the lines that were counted
	lines  int
	missed int

	mu    sync.Mutex
	final string // the last line that was not empty
}

func newStderrLog(ctx context.Context, clean func(string) string, log *slog.Logger) *stderrLog {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &stderrLog{ctx: ctx, clean: clean, log: log}
}

// read logs what r has until it ends.
func (s *stderrLog) read(r io.Reader) {
	in := bufio.NewReaderSize(r, 2*maxStderrLine) // a secret that is cut is not known
	rest := false                                 // what comes belongs to a line that was cut
	for {
		part, err := in.ReadSlice('\n')
		if !rest {
			s.line(string(part))
		}
		rest = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !rest {
			s.flush()
			return
		}
	}
}

func (s *stderrLog) line(text string) {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if text == "" {
		return
	}
	if text = s.clean(text); len(text) > maxStderrLine {
		text = strings.ToValidUTF8(text[:maxStderrLine], "")
	}
	s.mu.Lock()
	s.final = text
	s.mu.Unlock()
	if time.Since(s.since) > stderrTime {
		s.flush()
		s.since, s.lines = time.Now(), 0
	}
	if s.lines++; s.lines > maxStderrLines {
		s.missed++
		return
	}
	s.log.LogAttrs(s.ctx, slog.LevelDebug, "an MCP server wrote to stderr", slog.String("line", text))
}

// flush logs how many lines were left out.
func (s *stderrLog) flush() {
	if s.missed > 0 {
		s.log.LogAttrs(s.ctx, slog.LevelDebug, "an MCP server wrote more to stderr than is logged", slog.Int("lines", s.missed))
	}
	s.missed = 0
}

// last is the last line, for who reads why the child ended.
func (s *stderrLog) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return short(s.final)
}
