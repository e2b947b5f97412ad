package provider

import (
	"bufio"
	"fmt"
	"io"
)

// maxBody is how long a body may be that is read as one value.
const maxBody = 64 << 20

// firstByte is the first byte of a body that is no white space, without taking it: a
// server that was asked for a stream may answer with plain JSON all the same, above
// all when it refuses.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return b, in.UnreadByte()
	}
}

// streamed reads an answer while it comes by read, which is given the body, and some told;
// where there is plain JSON instead, it is told at once.
func streamed(in io.Reader, f Format, told func(Delta), read func(body *bufio.Reader, told func(Delta)) (Answer, error)) (Answer, error) {
	if told == nil {
		told = func(Delta) {}
	}
	body := bufio.NewReaderSize(in, 16<<10)
	if b, err := firstByte(body); err == nil && b == '{' {
		return readWhole(body, f, told)
	}
	return read(body, told)
}

// readWhole reads an answer that is not streamed where a stream was expected.
func readWhole(in io.Reader, f Format, told func(Delta)) (Answer, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	if err != nil {
		return Answer{}, err
	}
	if len(text) > maxBody {
		return Answer{}, fmt.Errorf("answer: got more than %d bytes, want at most that", maxBody)
	}
	a, err := f.ReadAnswer(text)
	if err != nil {
		return a, err
	}
	for _, p := range a.Parts {
		tellPart(p, told)
	}
	return a, nil
}

// tellWhole tells a call, and any other part that has a form of the provider's own, once
// all of it is there.
func tellWhole(p Part, told func(Delta)) {
	d := Delta{Kind: DeltaPart}
	if p.Kind == PartCall {
		d = Delta{Kind: DeltaCall, Call: *p.Call}
	}
	if p.Own != nil {
		d.Part = &p
	}
	if d.Part != nil || d.Kind == DeltaCall {
		told(d)
	}
}

// tellPart tells a part that came at once.
func tellPart(p Part, told func(Delta)) {
	switch p.Kind {
	case PartText:
		tellText(told, DeltaText, p.Text)
	case PartThought:
		tellText(told, DeltaThought, p.Text)
	case PartRefusal:
		tellText(told, DeltaRefusal, p.Text)
	case PartCall:
		begun := *p.Call
		begun.Input = nil
		told(Delta{Kind: DeltaBegun, Call: begun})
	case PartMedia, PartResult, PartOwn:
	}
	tellWhole(p, told)
}

func tellText(told func(Delta), kind DeltaKind, text string) {
	if text != "" {
		told(Delta{Kind: kind, Text: text})
	}
}
