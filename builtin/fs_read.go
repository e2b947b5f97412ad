package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/internal/inside"
	"github.com/ferrule-dev/ferrule/tool"
)

// Bounds of what one fs_read shows. All of it is less than the limit of a result,
// so that nothing else cuts it.
const (
	fsReadLines = 2000
	fsReadLine  = 2000      // characters of one line
	fsReadText  = 60_000    // characters in all
	fsReadCount = 256 << 20 // bytes that are read to count lines, or to find the end of one
)

type fsReadIn struct {
	Path   string `json:"path" jsonschema:"description=file to read: below the workspace or absolute within it"`
	Offset int    `json:"offset,omitempty" jsonschema:"description=first line to show; 1 is the first of the file,minimum=1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"description=how many lines to show; 2000 unless set,minimum=1"`
}

func (s *fsSet) readTool() (*tool.Tool, error) {
	return fsReader(s, "fs_read",
		func(in fsReadIn) (string, bool) { return in.Path, false },
		func(in fsReadIn) error { _, err := s.file(in.Path); return err },
		s.read)
}

func (s *fsSet) read(ctx context.Context, in fsReadIn) (tool.Result, error) {
	p, err := s.file(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	f, info, err := s.open(p)
	if err != nil {
		return tool.Result{}, s.fail(p, err)
	}
	defer f.Close()
	content, err := fsShow(ctx, p, f, info, in)
	if err != nil {
		return tool.Result{}, s.fail(p, err)
	}
	return tool.Result{Content: content}, nil
}

// fsShow is a file as a model reads it.
func fsShow(ctx context.Context, p fsPlace, f *os.File, info fs.FileInfo, in fsReadIn) ([]tool.Content, error) {
	head := make([]byte, fsHead)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	if n == 0 {
		return []tool.Content{tool.Text(fmt.Sprintf("(%s is empty)", p))}, nil
	}
	if kind := fsImageKind(head); kind != "" {
		return fsImage(p, f, info, kind)
	}
	enc := fsEncodingOf(head)
	if enc == fsBinary {
		return nil, fsOff(fsBinaryText(p, info, head))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	text := inside.Until(ctx, f)
	if enc != fsPlain {
		if text, err = fsDecoded(p, text, info, enc); err != nil {
			return nil, err
		}
	}
	l := fsLines{in: bufio.NewReaderSize(text, 64<<10), first: max(in.Offset, 1), most: fsReadLines, size: info.Size()}
	if in.Limit > 0 {
		l.most = min(in.Limit, fsReadLines)
	}
	if err := l.run(); err != nil {
		return nil, err
	}
	if l.shown == 0 && l.endless > 0 {
		return nil, fsOff(fmt.Sprintf("%s has more than %d bytes in line %d; what is behind it is not read.", p, fsReadCount, l.endless))
	}
	if l.shown == 0 {
		return nil, fsOff(fmt.Sprintf("%s has %d lines, got offset %d.", p, l.total, in.Offset))
	}
	content := []tool.Content{tool.Text(l.text.String())}
	if notes := l.notes(enc); notes != "" {
		content = append(content, tool.Text(notes))
	}
	return content, nil
}

// fsLines takes a range of lines from a file that is never held whole.
type fsLines struct {
	in    *bufio.Reader
	first int // line to begin with, from 1
	most  int
	size  int64

	text         strings.Builder
	chars        int
	shown, total int  // lines; total -1: not counted
	more         bool // there are lines behind those that are shown
	crlf, lf     int  // shown lines that end in CRLF, those that end in LF alone
	bad          int  // shown lines that are not UTF-8
	cut          []int
	endless      int // a line whose end was not looked for any further; 0: none
}

func (l *fsLines) run() error {
	for n := 1; ; n++ {
		line, size, ended, err := l.next(n >= l.first)
		if err != nil {
			return err
		}
		if size == 0 && !ended {
			l.total = n - 1
			return nil
		}
		if size > fsReadCount {
			if l.total = -1; n >= l.first {
				l.add(line, size, false)
			}
			l.endless = n
			return nil
		}
		if n < l.first {
			continue
		}
		if !l.add(line, size, ended) {
			l.more = true
			return l.count(n)
		}
		if !ended {
			l.total = n
			return nil
		}
	}
}

// next reads a line: as much of it as can be shown, and how long it is.
func (l *fsLines) next(wanted bool) (line []byte, size int, ended bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		size += len(part)
		if wanted && len(line) < 4*fsReadLine+4 {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return line, size, true, nil
		case errors.Is(err, io.EOF):
			return line, size, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, false, err
		case size > fsReadCount:
			return line, size, false, nil
		}
	}
}

// add shows a line; false: there is no room for it.
func (l *fsLines) add(line []byte, size int, ended bool) bool {
	whole := len(line) == size
	text := string(line)
	crlf, lf, bad := 0, 0, 0
	if ended && whole {
		text, lf = text[:len(text)-1], 1
		if strings.HasSuffix(text, "\r") {
			text, crlf, lf = text[:len(text)-1], 1, 0
		}
	}
	if !utf8.ValidString(text) && whole {
		bad = 1
	}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
	chars := utf8.RuneCountInString(text)
	if chars > fsReadLine || !whole {
		text, chars = fsFirst(text, fsReadLine), fsReadLine
		whole = false
	}
	if l.shown == l.most || l.shown > 0 && l.chars+chars+1 > fsReadText {
		return false
	}
	if !whole {
		l.cut = append(l.cut, l.first+l.shown)
	}
	if l.shown > 0 {
		l.text.WriteByte('\n')
	}
	l.text.WriteString(text)
	l.chars += chars + 1
	l.shown++
	l.crlf, l.lf, l.bad = l.crlf+crlf, l.lf+lf, l.bad+bad
	return true
}

// count goes on to the end, unless that is far.
func (l *fsLines) count(lines int) error {
	l.total = -1
	if l.size > fsReadCount {
		return nil
	}
	buf := make([]byte, 256<<10)
	ended := true // the last line that was seen has its end
	for {
		n, err := l.in.Read(buf)
		if n > 0 {
			lines += bytes.Count(buf[:n], []byte{'\n'})
			ended = bytes.HasSuffix(buf[:n], []byte{'\n'})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if !ended {
		lines++
	}
	l.total = lines
	return nil
}

// notes say what is not in the text; "": it is the whole file as it is.
func (l *fsLines) notes(enc fsEncoding) string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, "["+fmt.Sprintf(format, args...)+"]") }
	last := l.first + l.shown - 1
	switch {
	case l.endless > 0:
		say("line %d has more than %d bytes; what is behind it is not read", l.endless, fsReadCount)
	case l.more && l.total < 0:
		say("lines %d to %d of a file of %d bytes; read on with offset %d", l.first, last, l.size, last+1)
	case l.more:
		say("lines %d to %d of %d; read on with offset %d", l.first, last, l.total, last+1)
	case l.first > 1:
		say("lines %d to %d, the last of the file", l.first, last)
	}
	if len(l.cut) > 0 {
		say("cut after %d characters: %s; fs_grep shows more of a line around a match", fsReadLine, fsNumbers("line", l.cut))
	}
	switch {
	case l.crlf > 0 && l.lf == 0: // the last line may have no end
		say("line ends are CRLF; fs_edit keeps them")
	case l.crlf > 0:
		say("%d of these lines end in CRLF, the others in LF", l.crlf)
	}
	if l.bad > 0 {
		say("%d of these lines are not UTF-8: such bytes are shown as \uFFFD", l.bad)
	}
	if enc != fsPlain && enc != fsUTF8 {
		say("the file is %s; fs_edit keeps that", enc)
	}
	return strings.Join(notes, "\n")
}

// fsNumbers is a list of numbers in words, the first few of them.
func fsNumbers(what string, list []int) string { return fsNumbersOf(what, list, len(list)) }

// fsNumbersOf is fsNumbers for a list that is only the beginning of one.
func fsNumbersOf(what string, list []int, total int) string {
	const most = 10
	if total != 1 {
		what += "s"
	}
	text := strings.Trim(fmt.Sprint(list[:min(len(list), most)]), "[]")
	text = what + " " + strings.ReplaceAll(text, " ", ", ")
	if total > most {
		text += fmt.Sprintf(" and %d more", total-most)
	}
	return text
}

// fsFirst is the beginning of a text, in characters.
func fsFirst(text string, chars int) string {
	for i := range text {
		if chars--; chars < 0 {
			return text[:i]
		}
	}
	return text
}
