package builtin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/ferrule-dev/ferrule/tool"
)

// fsMostImage is the largest image that model providers take.
const fsMostImage = 5 << 20

// fsImageKind is the media type of an image that models can see; "": it is none.
func fsImageKind(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 16 && bytes.HasPrefix(head, []byte("RIFF")) && string(head[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// fsImage is an image as a block of its own, beside a line that says what it is.
func fsImage(p fsPlace, f *os.File, info fs.FileInfo, kind string) ([]tool.Content, error) {
	if info.Size() > fsMostImage {
		return nil, fsOff(fmt.Sprintf("%s is an image (%s) of %d bytes, want at most %d: make it smaller first.", p, kind, info.Size(), fsMostImage))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, fsMostImage+1))
	if err != nil {
		return nil, err
	}
	width, height, err := fsImageSize(data, kind)
	if err != nil || len(data) > fsMostImage {
		return nil, fsOff(fmt.Sprintf("%s begins like an image (%s), but is damaged.", p, kind))
	}
	text := fmt.Sprintf("%s: %s image, %d x %d, %d bytes", p, strings.TrimPrefix(kind, "image/"), width, height, len(data))
	return []tool.Content{tool.Text(text), {Type: tool.ImageContent, Data: data, MediaType: kind, Name: p.base(), Width: width, Height: height}}, nil
}

// fsImageSize reads the header only: what the pixels would take is not spent.
func fsImageSize(data []byte, kind string) (width, height int, err error) {
	var c image.Config
	switch kind {
	case "image/png":
		c, err = png.DecodeConfig(bytes.NewReader(data))
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case "image/gif":
		c, err = gif.DecodeConfig(bytes.NewReader(data))
	default:
		return fsWebP(data)
	}
	return c.Width, c.Height, err
}

// fsWebP reads the size from each of the three headers that there are.
func fsWebP(data []byte) (width, height int, err error) {
	if len(data) < 30 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	body := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(body[6:])) & 0x3fff, int(binary.LittleEndian.Uint16(body[8:])) & 0x3fff, nil
	case "VP8L":
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	case "VP8X":
		return 1 + (int(body[4]) | int(body[5])<<8 | int(body[6])<<16), 1 + (int(body[7]) | int(body[8])<<8 | int(body[9])<<16), nil
	}
	return 0, 0, fmt.Errorf("webp: got %q, want VP8, VP8L or VP8X", data[12:16])
}
