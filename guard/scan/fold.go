package scan

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// foldRune adds a character in its compatibility form, in lower case, without
// accents.
func foldRune(to []byte, r rune) []byte {
	switch {
	case 0x2010 <= r && r <= 0x2015 || r == 0x2212:
		return append(to, '-')
	case 0x2018 <= r && r <= 0x201b || r == 0x2032:
		return append(to, '\'')
	case 0x201c <= r && r <= 0x201f || r == 0x2033:
		return append(to, '"')
	case 0x1f1e6 <= r && r <= 0x1f1ff: // letters that flags are made of
		return append(to, byte('a'+r-0x1f1e6))
	case 0x1f150 <= r && r <= 0x1f169: // letters in black circles
		return append(to, byte('a'+r-0x1f150))
	case 0x1f170 <= r && r <= 0x1f189: // letters in black squares
		return append(to, byte('a'+r-0x1f170))
	}
	if b := smallCapital(r); b != 0 {
		return append(to, b)
	}
	if hangul(r) {
		return utf8.AppendRune(to, r)
	}
	var enc [utf8.UTFMax]byte
	whole := enc[:utf8.EncodeRune(enc[:], r)]
	if d := norm.NFKD.Properties(whole).Decomposition(); d != nil {
		whole = d
	}
	for len(whole) > 0 {
		r, size := utf8.DecodeRune(whole)
		whole = whole[size:]
		if !accent(r) {
			to = utf8.AppendRune(to, unicode.ToLower(r))
		}
	}
	return to
}

// accent: a mark that Latin and kana letters can do without. Marks of other
// scripts are letters of their words.
func accent(r rune) bool {
	return 0x300 <= r && r <= 0x36f || 0x1ab0 <= r && r <= 0x1aff || 0x20d0 <= r && r <= 0x20ff || r == 0x3099 || r == 0x309a
}

// lookAlike is the Latin letter that a Cyrillic, Greek or Armenian one is drawn
// like, or 0.
func lookAlike(r rune) byte {
	if r < 0x370 || r > 0x58f {
		return 0
	}
	return twins[r-0x370]
}

// twins are the letters that lookAlike gives, from U+0370 on.
var twins = twinLetters() //nolint:gochecknoglobals // a table that nothing changes

func twinLetters() (t [0x590 - 0x370]byte) {
	const (
		others = "аАеЕоОрРсСхХуУіІјЈѕЅкКмМтТвВнНԁһԛԝӏαΑεΕοΟρΡιΙκΚνΝτΤυΥΗΜΒΧΖγսոցօ"
		latin  = "aAeEoOpPcCxXyYiIjJsSkKmMtTbBhHdhqwlaAeEoOpPiIkKvNtTuYHMBXZyungo"
	)
	i := 0
	for _, r := range others {
		t[r-0x370] = latin[i]
		i++
	}
	return t
}

// narrowTable is what characters of up to two bytes read as.
type narrowTable struct {
	kinds [wide]uint8
	folds [wide]string // what foldRune makes of them
}

// wide is where characters of three bytes begin.
const wide = 0x800

// Kinds of characters of two bytes.
const (
	other uint8 = iota
	asIs        // normalising leaves it as it is
	twin        // and so, unless it stands for a Latin letter
)

var narrowRunes = sync.OnceValue(func() *narrowTable { //nolint:gochecknoglobals // a table that nothing changes, made when it is needed
	t := new(narrowTable)
	var to []byte
	for r := range rune(wide) {
		to = foldRune(to[:0], r)
		t.folds[r] = string(to)
		if r < utf8.RuneSelf || t.folds[r] != string(r) || unicode.IsSpace(r) || invisible(r) {
			continue
		}
		if t.kinds[r] = asIs; lookAlike(r) != 0 {
			t.kinds[r] = twin
		}
	}
	return t
})

// plainRune: normalising leaves a character of three bytes or more as it is. It may
// say false of others.
func plainRune(r rune) bool {
	switch {
	case r < plainRunes:
		return plain()[r/64]>>(r%64)&1 != 0
	default:
		return 0x3400 <= r && r <= 0x9fff || hangul(r) || 0x1f300 <= r && r <= 0x1faff
	}
}

// plainRunes is up to where a table says which characters are plain; those
// above in use are, but for compatibility forms.
const plainRunes = 0x3400

// plain has a bit for each character below plainRunes.
var plain = sync.OnceValue(func() *[plainRunes / 64]uint64 { //nolint:gochecknoglobals // a table that nothing changes, made when it is needed
	var bits [plainRunes / 64]uint64
	var n reader
	for r := rune(wide); r < plainRunes; r++ {
		n.rune = n.read(n.rune[:0], r, nil, 0)
		if string(n.rune) == string(r) {
			bits[r/64] |= 1 << (r % 64)
		}
	}
	return &bits
})

// hangul: a syllable. It is not taken apart.
func hangul(r rune) bool { return 0xac00 <= r && r <= 0xd7a3 }

// smallCapital is the letter that a small capital stands for, or 0.
func smallCapital(r rune) byte {
	const (
		small = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡɩ"
		latin = "abcdefghijklmnoprstuvwyzagi"
	)
	if r < 0x250 || r > 0xa7ff || r > 0x2ff && r < 0x1d00 || r > 0x1d7f && r < 0xa730 {
		return 0
	}
	i := 0
	for _, s := range small {
		if s == r {
			return latin[i]
		}
		i++
	}
	return 0
}
