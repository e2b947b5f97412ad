package builtin_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ferrule-dev/ferrule/builtin"
	"github.com/ferrule-dev/ferrule/tool"
	"github.com/ferrule-dev/ferrule/tooltest"
	"github.com/ferrule-dev/ferrule/undo"
)

// fsBench is a workspace with the file tools.
type fsBench struct {
	testing.TB
	files   builtin.Files
	work    string
	tools   map[string]*tool.Tool
	history *undo.History
}

// newFiles makes a workspace: names that end in / are folders.
func newFiles(t testing.TB, files map[string]string, set ...func(*builtin.Files)) *fsBench {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &fsBench{TB: t, work: work}
	for name, content := range files {
		b.put(name, content)
	}
	if b.history, err = undo.Open(t.Context(), filepath.Join(t.TempDir(), "undo")); err != nil {
		t.Fatal(err)
	}
	b.files = builtin.Files{Roots: []string{work}, Undo: b.history}
	for _, s := range set {
		s(&b.files)
	}
	b.open()
	return b
}

func (b *fsBench) open() {
	b.Helper()
	tools, err := b.files.Tools()
	if err != nil {
		b.Fatal(err)
	}
	b.tools = make(map[string]*tool.Tool)
	for _, t := range tools {
		b.tools[t.Name] = t
	}
}

func (b *fsBench) put(name, content string) {
	b.Helper()
	file := filepath.Join(b.work, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.Fatal(err)
	}
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(file, 0o755); err != nil {
			b.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *fsBench) link(target, name string) {
	b.Helper()
	if err := os.Symlink(target, filepath.Join(b.work, name)); err != nil {
		b.Skipf("no symbolic links here: %v", err)
	}
}

// do runs a call through every gate.
func (b *fsBench) do(name, input string) tool.Result {
	b.Helper()
	return tooltest.Do(b, b.tools[name], strings.ReplaceAll(input, "$W", filepath.ToSlash(b.work)))
}

func (b *fsBench) content(name string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.work, name))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func (b *fsBench) args(name, input string) tool.Args {
	b.Helper()
	a, err := b.tools[name].Admit(json.RawMessage(strings.ReplaceAll(input, "$W", filepath.ToSlash(b.work))))
	if err != nil {
		b.Fatal(err)
	}
	return a
}

func TestFilesRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	many := strings.Repeat("line\n", 5000)
	wide := strings.Repeat(strings.Repeat("w", 999)+"\n", 100)
	utf16le := "\xFF\xFE" + string(encode16(binary.LittleEndian, "hé\r\nho\n"))
	utf16be := "\xFE\xFF" + string(encode16(binary.BigEndian, "hé\n"))
	files := map[string]string{
		"a.txt": "one\ntwo\nthree\n", "no-end": "one\ntwo", "empty": "", "sub/b.txt": "b\n", "long": "short\n" + long + "\nend\n", "many": many, "wide": wide,
		"crlf": "a\r\nb\r\n", "mixed": "a\r\nb\nc\n", "mixed2": "a\nb\r\n", "mixed3": "a\r\nb\nc\r\n", "crlf-open": "a\r\nb", "latin2": "a\nb\xe9\n", "bom": "\xEF\xBB\xBFhello\n", "le": utf16le, "be": utf16be, "odd": "\xFF\xFE" + strings.Repeat("a\x00", 5000) + "a", "latin": "caf\xe9\n",
		"bin": "a\x00b", "zip": "PK\x03\x04\x00\x00", "pdf": "%PDF-1.7\n\x00",
	}
	tests := []struct{ name, input, want string }{
		{"I1 read: the text as it is", `{"path":"a.txt"}`, "one\ntwo\nthree"},
		{"I1 read: without a line end", `{"path":"no-end"}`, "one\ntwo"},
		{"I1 read: an absolute path within the workspace", `{"path":"$W/sub/b.txt"}`, "b"},
		{"I1 read: .. within the workspace", `{"path":"sub/../a.txt","limit":1}`, "one\n[lines 1 to 1 of 3; read on with offset 2]"},
		{"I1 read: a range", `{"path":"a.txt","offset":2,"limit":1}`, "two\n[lines 2 to 2 of 3; read on with offset 3]"},
		{"I1 read: the end of a file", `{"path":"a.txt","offset":3}`, "three\n[lines 3 to 3, the last of the file]"},
		{"I1 read: behind the end", `{"path":"a.txt","offset":9}`, "!a.txt has 3 lines, got offset 9."},
		{"I1 read: an empty file is said to be empty", `{"path":"empty"}`, "(empty is empty)"},
		{"I1 read: a long line is cut and said so", `{"path":"long"}`, "short\n" + long[:2000] + "\nend\n[cut after 2000 characters: line 2; fs_grep shows more of a line around a match]"},
		{"I1 read: many lines", `{"path":"many"}`, strings.TrimSuffix(strings.Repeat("line\n", 2000), "\n") + "\n[lines 1 to 2000 of 5000; read on with offset 2001]"},
		{"I1 read: many characters", `{"path":"wide"}`, strings.TrimSuffix(wide[:60*1000], "\n") + "\n[lines 1 to 60 of 100; read on with offset 61]"},
		{"I1 read: CRLF", `{"path":"crlf"}`, "a\nb\n[line ends are CRLF; fs_edit keeps them]"},
		{"I1 read: mixed line ends", `{"path":"mixed"}`, "a\nb\nc\n[1 of these lines end in CRLF, the others in LF]"},
		{"I1 read: LF first is mixed, too", `{"path":"mixed2"}`, "a\nb\n[1 of these lines end in CRLF, the others in LF]"},
		{"I1 read: one LF among CRLF is mixed, too", `{"path":"mixed3"}`, "a\nb\nc\n[2 of these lines end in CRLF, the others in LF]"},
		{"I1 read: CRLF with a last line that has no end", `{"path":"crlf-open"}`, "a\nb\n[line ends are CRLF; fs_edit keeps them]"},
		{"I1 read: the end of a line that is not shown does not count", `{"path":"mixed3","limit":1}`, "a\n[lines 1 to 1 of 3; read on with offset 2]\n[line ends are CRLF; fs_edit keeps them]"},
		{"I1 read: in whatever way", `{"path":"crlf","limit":1}`, "a\n[lines 1 to 1 of 2; read on with offset 2]\n[line ends are CRLF; fs_edit keeps them]"},
		{"I1 read: nor do bytes of one", `{"path":"latin2","limit":1}`, "a\n[lines 1 to 1 of 2; read on with offset 2]"},
		{"I1 read: a byte order mark is not shown", `{"path":"bom"}`, "hello"},
		{"I1 read: UTF-16", `{"path":"le"}`, "hé\nho\n[1 of these lines end in CRLF, the others in LF]\n[the file is UTF-16 (little endian); fs_edit keeps that]"},
		{"I1 read: UTF-16 the other way round", `{"path":"be"}`, "hé\n[the file is UTF-16 (big endian); fs_edit keeps that]"},
		{"I1 read: half a character of UTF-16", `{"path":"odd"}`, "!The file is UTF-16 (little endian), but has an odd number of bytes, 10003: a part of it is missing."},
		{"I1 read: not UTF-8", `{"path":"latin"}`, "caf\uFFFD\n[1 of these lines are not UTF-8: such bytes are shown as \uFFFD]"},
		{"I1 read: binary with a hint", `{"path":"bin"}`, "!bin is binary (application/octet-stream, 3 bytes). Only text and images (PNG, JPEG, GIF, WebP) can be read; programs such as file, strings or xxd say more."},
		{"I1 read: an archive", `{"path":"zip"}`, "!zip is binary (application/zip, 6 bytes). Only text and images (PNG, JPEG, GIF, WebP) can be read; a program such as unzip or tar lists what is in it."},
		{"I1 read: a PDF", `{"path":"pdf"}`, "!pdf is binary (application/pdf, 10 bytes). Only text and images (PNG, JPEG, GIF, WebP) can be read; a program such as pdftotext makes text of a PDF."},
		{"I1 read: a folder", `{"path":"sub"}`, "!sub is a folder: fs_list shows what is in it."},
		{"I1 read: a name that is nearly right", `{"path":"sub/B.text"}`, "!There is no sub/B.text. Did you mean sub/b.txt?"},
		{"I1 read: a folder that is nearly right", `{"path":"sup/b.txt"}`, "!There is no sup/b.txt: the folder sup is not there. Did you mean sub?"},
		{"I1 read: nothing like it", `{"path":"sub/zzzzzzzz"}`, "!There is no sub/zzzzzzzz. fs_list and fs_glob show what there is."},
		{"I1 read: a file is no folder", `{"path":"a.txt/b"}`, "!a.txt/b: a part of the path is a file and not a folder."},
		{"I1 read: a folder by its /", `{"path":"sub/"}`, `!ValidationError: path: got "sub/", which is a folder, want a file`},
		{"I1 read: no path", `{"path":""}`, "!ValidationError: path: got nothing, want the path of a file"},
	}
	b := newFiles(t, files)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, b.on(t).do("fs_read", tt.input), tt.want)
		})
	}
}

// on is the same workspace for another test.
func (b *fsBench) on(t testing.TB) *fsBench { c := *b; c.TB = t; return &c }

// check compares a result; ! stands before what an error says.
func check(t testing.TB, r tool.Result, want string) {
	t.Helper()
	got := r.String()
	if r.Err != nil {
		got = "!" + got
	}
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func encode16(order binary.AppendByteOrder, text string) (raw []byte) {
	for _, u := range utf16.Encode([]rune(text)) {
		raw = order.AppendUint16(raw, u)
	}
	return raw
}

func TestFilesImages(t *testing.T) {
	t.Parallel()
	picture := image.NewPaletted(image.Rect(0, 0, 7, 5), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	if err := png.Encode(&p, picture); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, picture, nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&g, picture, nil); err != nil {
		t.Fatal(err)
	}
	riff := func(kind, body string) string {
		return "RIFF\x00\x00\x00\x00WEBP" + kind + "\x00\x00\x00\x00" + body + strings.Repeat("\x00", 20)
	}
	tests := []struct{ name, content, kind string }{
		{"I1 read: png", p.String(), "image/png"},
		{"I1 read: jpeg", j.String(), "image/jpeg"},
		{"I1 read: gif", g.String(), "image/gif"},
		{"I1 read: webp lossy", riff("VP8 ", "\x00\x00\x00\x9d\x01\x2a\x07\x00\x05\x00"), "image/webp"},
		{"I1 read: webp lossless", riff("VP8L", "\x2f\x06\x00\x01\x00"), "image/webp"},
		{"I1 read: webp extended", riff("VP8X", "\x00\x00\x00\x00\x06\x00\x00\x04\x00\x00"), "image/webp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newFiles(t, map[string]string{"pic": tt.content, "bad": tt.content[:16], "large": tt.content + strings.Repeat("x", 5<<20)})
			r := b.do("fs_read", `{"path":"pic"}`)
			if r.Err != nil || len(r.Content) != 2 {
				t.Fatalf("got %v, want two blocks", r)
			}
			c := r.Content[1]
			if c.Type != tool.ImageContent || c.MediaType != tt.kind || c.Width != 7 || c.Height != 5 || string(c.Data) != tt.content || c.Name != "pic" {
				t.Errorf("got %s %s %dx%d %q, want %s 7x5", c.Type, c.MediaType, c.Width, c.Height, c.Name, tt.kind)
			}
			if r := b.do("fs_read", `{"path":"bad"}`); r.Err == nil || !strings.Contains(r.String(), "damaged") {
				t.Errorf("half an image: got %v", r)
			}
			if r := b.do("fs_read", `{"path":"large"}`); r.Err == nil || !strings.Contains(r.String(), "make it smaller") {
				t.Errorf("a large image: got %.100s", r)
			}
		})
	}
}

func TestFilesList(t *testing.T) {
	t.Parallel()
	b := newFiles(t, map[string]string{"a/x": "1", "a.go": "12", "b": "", "empty/": "", ".git/config": "", ".ferrule/db": "s"})
	b.link("b", "way")
	b.link("/etc/passwd", "out")
	tests := []struct{ name, input, want string }{
		{"I1 list: names, kinds and sizes in order", `{}`, ".git/\na.go  2 bytes\na/\nb  0 bytes\nempty/\nout  symbolic link\nway  symbolic link to b"},
		{"I1 list: a folder", `{"path":"a"}`, "x  1 byte"},
		{"I1 list: the workspace by its path", `{"path":"$W/a/.."}`, ".git/\na.go  2 bytes\na/\nb  0 bytes\nempty/\nout  symbolic link\nway  symbolic link to b"},
		{"I1 list: an empty folder", `{"path":"empty"}`, "(empty is empty)"},
		{"I1 list: a file", `{"path":"b"}`, "!b is a file: fs_read shows what is in it."},
		{"I1 list: not there", `{"path":"emtpy"}`, "!There is no emtpy. Did you mean empty?"},
		{"I1 list: hidden", `{"path":".ferrule"}`, "!ValidationError: .ferrule belongs to the program that runs you or was hidden from you: it is not read or changed."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t, b.on(t).do("fs_list", tt.input), tt.want)
		})
	}
	t.Run("I1 list: bounded", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, nil)
		for i := range 1100 {
			b.put("n"+string(rune('a'+i/100))+string(rune('a'+i/10%10))+string(rune('a'+i%10)), "")
		}
		if got := b.do("fs_list", `{}`).String(); strings.Count(got, "\n") != 1000 || !strings.HasSuffix(got, "[1000 of 1100 entries; fs_glob finds names by a pattern]") {
			t.Errorf("got %d lines, ending in %q", strings.Count(got, "\n"), got[len(got)-80:])
		}
	})
}
