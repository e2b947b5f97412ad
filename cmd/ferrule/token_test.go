package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLocalToken(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(from, to string) error{
		"Y2 with hard links":                     os.Link,
		"Y2 on a file system without hard links": func(string, string) error { return errors.ErrUnsupported },
		"Y2 somebody else is first, without them": func(_, to string) error {
			return errors.Join(errors.ErrUnsupported, keepNew(to, []byte("012345678901234567890123")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			token, err := tokenIn(dir, "token", link)
			if err != nil {
				t.Fatal(err)
			}
			again, err := tokenIn(dir, "token", link)
			kept, read := readToken(filepath.Join(dir, "token"))
			if err != nil || read != nil || again != token || kept != token {
				t.Errorf("got %q, %v, then %q, %v, kept %q, want the same", token, err, again, read, kept)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
				t.Errorf("got %v, %v, want the token alone", list, err)
			}
		})
	}
}
