package tool_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

// What a typed tool returns is what Encode writes, whichever way it was written.
func TestTypedOutput(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	type point struct{ X, Y float64 }
	yes, deep := true, &inner{7}
	all := map[string]func(*testing.T){
		"O2 numbers": func(t *testing.T) {
			write := echo[point](t)
			for _, f := range []float64{
				0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e20, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1.0 / 3, math.NaN(), math.Inf(1),
			} {
				write(t, point{f, 2})
			}
			echo[struct{ F float32 }](t)(t, struct{ F float32 }{0.1})
			echo[struct {
				A int8
				B uint64
			}](t)(t, struct {
				A int8
				B uint64
			}{-128, math.MaxUint64})
		},
		"O2 texts": func(t *testing.T) {
			write := echo[labelled](t)
			for _, s := range []string{"", "a", `"`, `\`, "<&>", "é", "\u2028", "\x00", "\x7f", "\xff", "a\nb", "🙂"} {
				write(t, labelled{s})
			}
		},
		"O2 nothing inside": func(t *testing.T) {
			echo[narrow](t)(t, narrow{})
			echo[sparse](t)(t, sparse{})
			echo[sparse](t)(t, sparse{Tags: []string{}, Maybe: new(int), Yes: true, Float: 1e-300})
			echo[struct{ List []*inner }](t)(t, struct{ List []*inner }{[]*inner{nil, deep}})
			echo[struct{ P **inner }](t)(t, struct{ P **inner }{&deep})
		},
		"O2 fields as encoding/json names them": func(t *testing.T) {
			type odd struct {
				Plain  int
				Gone   int `json:"-"`
				Space  int `json:"a b"`
				hidden int
			}
			echo[odd](t)(t, odd{1, 2, 3, 4})
			type empty struct {
				A int `json:"a,omitempty"`
				B int `json:"b,omitempty"`
			}
			echo[empty](t)(t, empty{})
			echo[empty](t)(t, empty{0, 1})
			type embeds struct {
				inner
				M int `json:"m"`
			}
			echo[embeds](t)(t, embeds{inner{1}, 2})
			type quoted struct {
				N int  `json:"n,string"`
				Z bool `json:"z,omitzero"`
			}
			echo[quoted](t)(t, quoted{1, false})
		},
		"O2 types that write themselves": func(t *testing.T) {
			type own struct {
				At   time.Time       `json:"at"`
				Raw  json.RawMessage `json:"raw"`
				Data []byte          `json:"data"`
				Yes  *bool           `json:"yes"`
			}
			echo[own](t)(t, own{time.Unix(0, 0).UTC(), json.RawMessage(`{"a": 1}`), []byte("x"), &yes})
			echo[starred](t)(t, starred{"secret"})
			echo[struct{ S starred }](t)(t, struct{ S starred }{starred{"secret"}})
			echo[struct{ S *starred }](t)(t, struct{ S *starred }{&starred{"secret"}})
		},
	}
	for name, f := range all {
		t.Run(name, f)
	}
}

// starred prints as stars, also where it is a part of something.
type starred struct{ Text string }

func (*starred) MarshalText() ([]byte, error) { return []byte("***"), nil }
