package redact

const (
	minIBAN = 15
	maxIBAN = 34
)

// ibanLength is how long an account number of a country is; 0 for others.
func ibanLength(country [2]byte) int {
	const lengths = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27" +
		"GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19" +
		"MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24" +
		"TR26UA29VA22VG24XK20YE30"
	for i := 0; i+4 <= len(lengths); i += 4 {
		if lengths[i] == country[0] && lengths[i+1] == country[1] {
			return int(lengths[i+2]-'0')*10 + int(lengths[i+3]-'0')
		}
	}
	return 0
}

// ibanAt finds the account number whose check digits begin at a place: two letters
// before them, and then groups of four, or all in one.
func ibanAt(text string, at, from int) (Span, bool) {
	start := at - 2
	if start < from || !isLetter(text[start]) || !isLetter(text[start+1]) || start > 0 && isWord(text[start-1]) {
		return Span{}, false
	}
	want := ibanLength([2]byte{text[start] &^ 0x20, text[start+1] &^ 0x20})
	if want == 0 {
		return Span{}, false
	}
	// The number without its spaces, as far as it reaches.
	var all [maxIBAN]byte
	n, end := 0, start
	for end < len(text) && n < want {
		c := text[end]
		if c == ' ' || c == '-' {
			if n%4 != 0 || n == 0 || end+1 == len(text) || !isLetter(text[end+1]) && !isDigit(text[end+1]) {
				return Span{}, false
			}
			end++
			continue
		}
		if !isLetter(c) && !isDigit(c) {
			return Span{}, false
		}
		all[n] = c
		n++
		end++
	}
	if n != want || n < minIBAN || !isDigit(all[2]) || !isDigit(all[3]) || end < len(text) && isWord(text[end]) {
		return Span{}, false
	}
	rest := 0
	for i := range n {
		c := all[(i+4)%n]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c&^0x20-'A') + 10) % 97
		}
	}
	return Span{start, end, "iban"}, rest == 1
}
