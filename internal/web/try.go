package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// fieldPrefix is before the names of arguments in forms.
const fieldPrefix = "arg."

// trialOf reads a form. Browsers end lines with CR and LF there.
func trialOf(v url.Values) (t trial, _ error) {
	t.Raw, t.Fields = v.Get("raw"), make(map[string]string)
	for name, values := range v {
		if arg, ok := strings.CutPrefix(name, fieldPrefix); ok && len(values) > 0 {
			t.Fields[arg] = strings.ReplaceAll(values[0], "\r\n", "\n")
		}
	}
	return t, nil
}

func (c *Console) tryRoutes(m *http.ServeMux) {
	actTo(c, m, "/tools/{name}/call", trialOf, func(r *http.Request, in trial) (done, error) {
		if c.Try == nil {
			return done{}, errors.New("tools cannot be called here")
		}
		t, err := c.tool(r)
		if err != nil {
			return done{}, err
		}
		if t.Hidden != "" {
			return done{}, errors.New("it is not offered: " + t.Hidden)
		}
		args, err := in.args(t.Input)
		if err != nil {
			return done{}, err
		}
		call, err := c.Try(r.Context(), t.Name, args)
		if err != nil {
			return done{}, err
		}
		return done{Said: "called " + t.Name, To: "/history/" + url.PathEscape(call), Call: call}, nil
	})
}
