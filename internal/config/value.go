package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// text is a value that is a text; ok is false where it is none.
func (r *reader) text(n *yaml.Node, what string) (s string, ok bool) {
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
		r.fault(n, "%s: got %s, want a text: put quotes around one that has \": \" in it", what, kindOf(n))
		return "", false
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.fault(n, "%s: got %s, want a text%s", what, kindOf(n), quoteHint(n))
		return "", false
	}
	return n.Value, true
}

func quoteHint(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return ": put quotes around it"
	}
	return ""
}

// texts is a list of texts that say something.
func (r *reader) texts(n *yaml.Node, what string) (list []string) {
	for _, item := range r.items(n, what, "texts") {
		s, ok := r.text(item, what)
		if ok && strings.TrimSpace(s) == "" {
			r.fault(item, "%s: got an empty text", what)
		} else if ok {
			list = append(list, s)
		}
	}
	return list
}

// number is a value that is a whole number.
func (r *reader) number(n *yaml.Node, what string) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil {
		r.fault(n, "%s: got %s, want a whole number", what, kindOf(n))
		return 0
	}
	return v
}

// span is a value that is a time.
func (r *reader) span(n *yaml.Node, what string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null" || err != nil:
		r.fault(n, "%s: got %s, want a time such as 30s, 5m or 1h30m", what, kindOf(n))
		return 0
	case d <= 0:
		r.fault(n, "%s: got %s, want more than 0", what, n.Value)
		return 0
	}
	return d
}

// yes is a value that is true or false.
func (r *reader) yes(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || !slices.Contains([]string{"true", "false"}, n.Value) {
		r.fault(n, "%s: got %s, want true or false", what, kindOf(n))
		return false
	}
	return n.Value == "true"
}
