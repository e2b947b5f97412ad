package redact

import (
	"fmt"
	"strings"
	"testing"
)

func TestPersonal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"ann.lee+x@mail.example.org, bob@example.co.uk.", "email:ann.lee+x@mail.example.org email:bob@example.co.uk"},
		{"josé@example.es “ann@example.org”", "email:josé@example.es email:ann@example.org"},
		{"git clone git@example.com:org/repo ssh://git@example.com/x", ""},
		{"logo@2x.png lodash@4.17.21 @types/node a@b foo@bar. @decorated.by", ""},
		{"ann@example.org:8 is odd, <ann@example.org>", "email:ann@example.org"},

		{"4111 1111 1111 1111, 4111-1111-1111-1111 and 4111111111111111", "card:4111 1111 1111 1111 card:4111-1111-1111-1111 card:4111111111111111"},
		{"3782 822463 10005 378282246310005 6011111111111117", "card:3782 822463 10005 card:378282246310005 card:6011111111111117"},
		{"wrong check digit 4111111111111112, no issuer 9111111111111111, in a word a4111111111111111", ""},
		{"0.4111111111111111 4111111111111111-1 1700000000000 1700000000000000", ""},
		{`{"card":4111111111111111}`, "card:4111111111111111"},
		{"time 12:4111111111111111", "card:4111111111111111"},

		{"GB82 WEST 1234 5698 7654 32 and DE89370400440532013000.", "iban:GB82 WEST 1234 5698 7654 32 iban:DE89370400440532013000"},
		{"wrong GB82 WEST 1234 5698 7654 33, short DE8937040044053201300, unknown XX89370400440532013000", ""},

		{"078-05-1120", "ssn:078-05-1120"},
		{"ssn 078051120, my social security number is 078 05 1120", "ssn:078051120 ssn:078 05 1120"},
		{"078051120 178 05 1120 000-12-3456 666-12-3456 123-00-4567 123-45-0000 1123-45-6789 123-45-67890 123-45-6789-1", ""},

		{"10.1.2.3:80, 192.0.2.7/24 and 8.8.8.8.", "ip:10.1.2.3 ip:192.0.2.7 ip:8.8.8.8"},
		{"127.0.0.1 0.0.0.0 255.255.255.0 1.2.3.4.5 1.2.3.256 01.2.3.4 v1.2.3.4 version 1.2.3.4 x==1.2.3.4 1.2.3.4-beta", ""},
		{"2001:db8::8a2e:370:7334 fe80::1 [2001:db8:0:0:1:2:3:4]:80", "ip:2001:db8::8a2e:370:7334 ip:fe80::1 ip:2001:db8:0:0:1:2:3:4"},
		{"::1 :: std::abc a1::b 12:30:45 de:ad:be:ef:00:01 1:2:3:4:5:6:7:8:9", ""},

		{"212-555-0100 (212) 555-0100 1-212-555-0100 212.555.0100x12", "phone:212-555-0100 phone:(212) 555-0100 phone:1-212-555-0100 phone:212.555.0100x12"},
		{"+41 44 668 18 00, +41 (0)44 668 18 00 or 044 668 18 00", "phone:+41 44 668 18 00 phone:+41 (0)44 668 18 00 phone:044 668 18 00"},
		{"Tel: 668 1800, fax 6681801", "phone:668 1800 phone:6681801"},
		{"668 1800 2024-05-01 call on 2024-05-01 1,234,567\n100 200 300 [PERSONAL:phone:1] 6681800", ""},
		{"+20240501\n+1234 56", ""},
	} {
		var got []string
		for _, s := range AllPersonal.Spans(tt.text) {
			got = append(got, s.Kind+":"+tt.text[s.Start:s.End])
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("Spans(%q) = %q, want %q", tt.text, g, tt.want)
		}
	}
}

// Each kind can be had alone.
func TestPersonalSwitches(t *testing.T) {
	t.Parallel()
	text := "a@example.org 212-555-0100 4111111111111111 DE89370400440532013000 219-09-9999 10.1.2.3"
	for p, want := range map[Personal]string{
		0: "", Email: "email", Phone: "phone", Card: "card", IBAN: "iban", SSN: "ssn", IP: "ip",
		AllPersonal: "email phone card iban ssn ip", Email | IP: "email ip",
	} {
		var got []string
		for _, s := range p.Spans(text) {
			got = append(got, s.Kind)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: got %q, want %q", fmt.Sprintf("%06b", p), g, want)
		}
	}
}

// Texts that are made to be slow take no longer than others: this would take hours.
func TestPersonalLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"1", "1 ", "1.", "a", "a@", "a:", "::", "1-", "@", "DE89 ", "(1)", "a.", "+1", "x@y.z"} {
		AllPersonal.Spans(strings.Repeat(unit, 1<<18/len(unit)))
	}
}
