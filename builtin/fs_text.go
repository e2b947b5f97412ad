package builtin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"unicode/utf16"
)

// fsEncoding is how a file writes text.
type fsEncoding string

const (
	fsPlain   fsEncoding = "plain" // UTF-8, or bytes of which most are
	fsUTF8    fsEncoding = "UTF-8 with a byte order mark"
	fsUTF16LE fsEncoding = "UTF-16 (little endian)"
	fsUTF16BE fsEncoding = "UTF-16 (big endian)"
	fsBinary  fsEncoding = "binary"
)

// fsHead is how much of a file says what it is.
const fsHead = 8 << 10

// fsMostText is how much of a file is held in memory, where it must be: to edit
// it, to decode it, to search it.
const fsMostText = 16 << 20

// fsEncodingOf goes by the first bytes. A zero byte makes a file binary, as it
// does for grep and git.
func fsEncodingOf(head []byte) fsEncoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		return fsUTF8
	case bytes.HasPrefix(head, []byte("\xFF\xFE")) && len(head)%2 == 0 && !bytes.HasPrefix(head, []byte("\xFF\xFE\x00\x00")):
		return fsUTF16LE
	case bytes.HasPrefix(head, []byte("\xFE\xFF")) && len(head)%2 == 0:
		return fsUTF16BE
	case bytes.IndexByte(head, 0) >= 0:
		return fsBinary
	}
	return fsPlain
}

// fsBinaryText says what a file is that cannot be read, and what can be done.
func fsBinaryText(p fsPlace, info fs.FileInfo, head []byte) string {
	kind := http.DetectContentType(head)
	hint := "Only text and images (PNG, JPEG, GIF, WebP) can be read"
	switch {
	case kind == "application/pdf":
		hint += "; a program such as pdftotext makes text of a PDF"
	case strings.Contains(kind, "zip") || strings.Contains(kind, "gzip") || strings.Contains(kind, "rar"):
		hint += "; a program such as unzip or tar lists what is in it"
	default:
		hint += "; programs such as file, strings or xxd say more"
	}
	return fmt.Sprintf("%s is binary (%s, %d bytes). %s.", p, kind, info.Size(), hint)
}

// fsDecoded is the text of a file as UTF-8, without its byte order mark.
func fsDecoded(p fsPlace, r io.Reader, info fs.FileInfo, enc fsEncoding) (io.Reader, error) {
	if enc == fsUTF8 {
		_, err := io.CopyN(io.Discard, r, 3)
		return r, err
	}
	if info.Size() > fsMostText {
		return nil, fsOff(fmt.Sprintf("%s is %s of %d bytes; such files are read up to %d.", p, enc, info.Size(), fsMostText))
	}
	raw, err := fsReadAll(r)
	if err != nil {
		return nil, err
	}
	text, err := fsDecode(raw, enc)
	return strings.NewReader(text), err
}

// fsReadAll reads at most fsMostText.
func fsReadAll(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, fsMostText+1))
	if err == nil && len(raw) > fsMostText {
		err = errTooLong()
	}
	return raw, err
}

func errTooLong() error { return fsOff(fmt.Sprintf("the file is longer than %d bytes", fsMostText)) }

// fsDecode makes text of a file's bytes, without a byte order mark.
func fsDecode(raw []byte, enc fsEncoding) (string, error) {
	var order binary.ByteOrder = binary.LittleEndian
	switch enc {
	case fsUTF8:
		return string(raw[3:]), nil
	case fsUTF16BE:
		order = binary.BigEndian
	case fsUTF16LE:
	case fsPlain, fsBinary:
		return string(raw), nil
	}
	if len(raw)%2 != 0 {
		return "", fsOff(fmt.Sprintf("The file is %s, but has an odd number of bytes, %d: a part of it is missing.", enc, len(raw)))
	}
	units := make([]uint16, len(raw)/2-1)
	for i := range units {
		units[i] = order.Uint16(raw[2*i+2:])
	}
	return string(utf16.Decode(units)), nil
}

// fsEncode is the way back.
func fsEncode(text string, enc fsEncoding) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	switch enc {
	case fsUTF8:
		return append([]byte("\xEF\xBB\xBF"), text...)
	case fsUTF16BE:
		order = binary.BigEndian
	case fsUTF16LE:
	case fsPlain, fsBinary:
		return []byte(text)
	}
	units := utf16.Encode([]rune(text))
	raw := order.AppendUint16(make([]byte, 0, 2*len(units)+2), 0xFEFF)
	for _, u := range units {
		raw = order.AppendUint16(raw, u)
	}
	return raw
}
