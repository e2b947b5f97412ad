package scan

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Words of ordinary text, with how often a million words have them, roughly.
// Which word of a rule is looked for first is chosen by it; a wrong guess costs
// time and nothing else.
const (
	veryFrequent = " the of and to a in is it you that for on are with as be at by this i or an from not was we can if have your all will do "
	frequent     = " use used using user users data file files tool tools call name code time get set new make one two more when what which who how out into only " +
		"no so me my our they them their its his her he she has had been were would should could must may than then other any some also these those " +
		"value type list key string text number message messages content information result results response request model system command commands " +
		"run read write send add show print create include return returns returned output input first after before about over where there here please " +
		"page link image url name email date id object line lines function parameter parameters option options default search server api "
	usual = " always never without avoid like just now up see find need needs want well work way good people day long end start begin begins through between each every both same such " +
		"change changes changed check let say says said tell ask asks give given provide provides provided keep put place point part back still even own while because during against until again once " +
		"important access account order orders action actions task tasks question questions answer answers context language support based available current different following specific multiple " +
		"single format field fields detail details key token tokens note example instead remove delete update updated replace copy move open close load save store display enable disable set " +
		"project test tests error errors version image images table service process update path directory package install config configuration " +
		"company person world life year years today help know think come take look seem feel become leave mean must next last early late high low small large big old young right left " +
		"local remote global public private security secure safe risk check review rules rule policy limit limits allow allows require requires required ensure follow follows generate " +
		"generated translate explain describe write summary report story character role play english simple possible free real true false being having does did done made got went human humans " +
		"application applications developer developers administrator history assistant database password passwords client customer session released release already previous previously starting beginning conversation chat whenever hidden visible order programming program automated permission permissions processing handling reading knowledge approval it's i'm don't can't the_ http https www com org with_ code_ insert select where else apply given time times must_ no_ not_ filter filters encode decode base content_ "
)

// wordFrequencies are those of the words above.
var wordFrequencies = sync.OnceValue(func() map[string]float64 { //nolint:gochecknoglobals // never changed once made
	all := make(map[string]float64)
	for _, of := range []struct {
		words string
		often float64
	}{{usual, 150}, {frequent, 800}, {veryFrequent, 8000}} {
		for w := range strings.FieldsSeq(of.words) {
			all[w] = of.often
		}
	}
	return all
})

// wordFrequency of a whole word.
func wordFrequency(w string) float64 {
	if f := wordFrequencies()[w]; f > 0 {
		return f
	}
	switch len(w) {
	case 1, 2:
		return 100
	case 3:
		return 60
	default:
		return 15
	}
}

// pieceFrequency of a piece of a word.
func pieceFrequency(w string) float64 {
	whole := 1.5 * wordFrequency(w)
	switch len(w) {
	case 1:
		return 500000
	case 2:
		return 30000
	case 3:
		return max(whole, 2000)
	case 4:
		return max(whole, 400)
	case 5:
		return max(whole, 100)
	default:
		return max(whole, 25)
	}
}

// frequency guesses how often a text with borders stands in ordinary text.
func frequency(s string) float64 {
	rarest, rest := 1e6, 1.0
	for i := 0; i < len(s); {
		if s[i] >= utf8.RuneSelf {
			return 5
		}
		if !letterOrDigit(s[i]) {
			if strings.IndexByte("<>|[]{}#!@=*()\n", s[i]) >= 0 {
				rest *= 0.05
			}
			i++
			continue
		}
		j := i
		for j < len(s) && letterOrDigit(s[j]) {
			j++
		}
		f := 0.0
		if i > 0 && j < len(s) {
			// Where it is part of another word that is soon seen.
			f = wordFrequency(s[i:j]) + pieceFrequency(s[i:j])/100
		} else {
			f = pieceFrequency(s[i:j])
		}
		if f < rarest {
			rarest, f = f, rarest
		}
		rest *= min(0.6, f/1e6*100)
		i = j
	}
	if rarest == 1e6 {
		rarest = 2e4
	}
	return rarest * rest / 0.6
}
