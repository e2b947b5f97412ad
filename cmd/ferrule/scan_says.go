package main

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/ferrule-dev/ferrule/internal/terminal"
)

// undisguised is what a place says to who reads tag characters, base64 or hexadecimal
// digits, as models do; "": it is not written so, or not in that alone.
func undisguised(place []byte, encoding string) string {
	const most = 160
	var text []byte
	var err error
	switch written := strings.Join(strings.Fields(string(place)), ""); encoding {
	case "base64":
		plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(written, "="))
		text, err = base64.RawStdEncoding.DecodeString(plain)
	case "hex":
		text, err = hex.DecodeString(strings.TrimPrefix(strings.NewReplacer(`\x`, "", ":", "").Replace(written), "0x"))
	default:
		for _, r := range string(place) {
			if letter := r - 0xE0000; letter >= ' ' && letter <= '~' { // a tag stands for it
				text = append(text, byte(letter))
			}
		}
	}
	if err != nil || !utf8.Valid(text) {
		return ""
	}
	return terminal.Brief(string(text), most)
}
