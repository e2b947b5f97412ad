package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	const (
		mit = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of it. The above copyright notice and this permission\n notice shall be included."
		bsd = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted."
	)
	for _, tt := range []struct{ name, text, want string }{
		{"MIT, whatever its lines", mit, "MIT"},
		{"BSD of two clauses", bsd, "BSD-2-Clause"},
		{"BSD of three", bsd + " The name may not be used to endorse or promote products.", "BSD-3-Clause"},
		{"BSD of four is not known", bsd + " All advertising materials must say so, and not endorse or promote products.", ""},
		{"Apache", "Apache License\n   Version 2.0, January 2004", "Apache-2.0"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that", "ISC"},
		{"0BSD", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.\n\nTHE SOFTWARE IS PROVIDED AS IS", "0BSD"},
		{"MPL, which speaks of the GPL", "Mozilla Public License Version 2.0. Covered Software. GNU General Public License", "MPL-2.0"},
		{"GPL", "GNU GENERAL PUBLIC LICENSE Version 3", ""},
		{"GPL beside MIT", mit + " GNU General Public License", ""},
		{"several in one file", mit + bsd, "BSD-2-Clause MIT"},
		{"something else", "All rights reserved.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(classify(tt.text), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLicensed(t *testing.T) {
	t.Parallel()
	folder := func(pairs ...string) string {
		dir := t.TempDir()
		for i := 0; i < len(pairs); i += 2 {
			if err := os.WriteFile(filepath.Join(dir, pairs[i]), []byte(pairs[i+1]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	const apache = "Apache License Version 2.0"
	p, err := licensed("example.com/m", "v1.0.0", "h1:x", folder("LICENSE", apache, "NOTICE", "by us", "PATENTS", "grant", "license.go", "package m", "README", "x"))
	if err != nil || p.expression() != "Apache-2.0" || len(p.files) != 3 {
		t.Errorf("got %+v, %v, want Apache-2.0 and three texts", p, err)
	}
	if _, err := licensed("example.com/m", "v1.0.0", "", folder("README", "x")); err == nil {
		t.Error("no licence: got no error")
	}
	if _, err := licensed("example.com/m", "v1.0.0", "", folder("LICENSE", apache, "LICENSE-2", "my own")); err == nil || !strings.Contains(err.Error(), "LICENSE-2: the licence is not known") {
		t.Errorf("got %v, want that LICENSE-2 is not known", err)
	}
}

// Each that was read by hand says what it is and why.
func TestReadByHand(t *testing.T) {
	t.Parallel()
	for name, j := range readByHand() {
		if j.reason == "" || len(strings.Fields(name)) != 2 {
			t.Errorf("%q: got %+v, want a module, a file and a reason", name, j)
		}
	}
}

func TestArchives(t *testing.T) {
	t.Parallel()
	when := time.Unix(1_700_000_000, 0).UTC()
	files := []file{{name: "LICENSE", text: []byte("text")}, {name: "bin/ferrule", text: []byte("program"), run: true}}
	t.Run("tar", func(t *testing.T) {
		t.Parallel()
		text, err := tarball("top", files, when)
		again, _ := tarball("top", files, when)
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("got %v, and other bytes", err)
		}
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil || !z.ModTime.IsZero() || z.Name != "" {
			t.Fatalf("got %v, %+v, want no time and no name", err, z)
		}
		var got []string
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || !h.ModTime.Equal(when) || h.Uid != 0 || h.Uname != "" {
				t.Fatalf("got %v, %+v", err, h)
			}
			body, err := io.ReadAll(r)
			got = append(got, h.Name+" "+h.FileInfo().Mode().String()+" "+string(body))
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"top/LICENSE -rw-r--r-- text", "top/bin/ferrule -rwxr-xr-x program"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("zip", func(t *testing.T) {
		t.Parallel()
		text, err := zipped("top", files, when)
		again, _ := zipped("top", files, when)
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("got %v, and other bytes", err)
		}
		r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil || len(r.File) != 2 || r.File[1].Name != "top/bin/ferrule" || r.File[1].Mode() != 0o755 || !r.File[0].Modified.Equal(when) {
			t.Errorf("got %v, %+v", err, r)
		}
	})
}

func TestBill(t *testing.T) {
	t.Parallel()
	s := stamp{version: "v1.2.3", commit: "abc", seconds: 1_700_000_000}
	parts := []part{
		{path: "github.com/BurntSushi/toml", version: "v1.0.0", sum: "h1:x", licenses: []string{"MIT"}},
		{path: "stdlib", version: "go1.26.8", licenses: []string{"BSD-3-Clause"}},
		{path: "example.com/odd", version: "v1.0.0+incompatible", sum: "h1:y"},
	}
	text, err := bill(s, target{"linux", "amd64"}, "ferrule_v1.2.3_linux_amd64", [32]byte{1}, parts)
	var d document
	if err := errors.Join(err, json.Unmarshal(text, &d)); err != nil {
		t.Fatal(err)
	}
	if d.Version != "SPDX-2.3" || d.Creation.Created != "2023-11-14T22:13:20Z" || len(d.Packages) != 4 || len(d.Relationships) != 4 {
		t.Errorf("got %s", text)
	}
	ids := make(map[string]bool)
	for _, p := range d.Packages {
		if ids[p.ID] || strings.Trim(p.ID, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
			t.Errorf("%s: want an id of its own, of letters, digits, . and -", p.ID)
		}
		ids[p.ID] = true
	}
	for _, want := range []string{
		`"pkg:golang/github.com/BurntSushi/toml@v1.0.0"`, `"https://proxy.golang.org/github.com/!burnt!sushi/toml/@v/v1.0.0.zip"`,
		`"pkg:golang/stdlib@1.26.8"`, `"pkg:golang/example.com/odd@v1.0.0%2Bincompatible"`, `"licenseConcluded": "NOASSERTION"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got no %s in %s", want, text)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	folder := func(pairs ...string) string {
		dir := t.TempDir()
		for i := 0; i < len(pairs); i += 2 {
			if err := os.WriteFile(filepath.Join(dir, pairs[i]), []byte(pairs[i+1]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	if n, err := same(folder("a", "x", "b", "y"), folder("a", "x", "b", "y")); n != 2 || err != nil {
		t.Errorf("got %d, %v, want two that are the same", n, err)
	}
	if _, err := same(folder("a", "xyz"), folder("a", "xyZ!")); err == nil || !strings.Contains(err.Error(), "a: the second build differs: 3 and 4 bytes, from byte 2 on") {
		t.Errorf("got %v", err)
	}
	if _, err := same(folder("a", "x"), folder("b", "x")); err == nil {
		t.Error("other names: got no error")
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	for version, ok := range map[string]bool{
		"v1.2.3": true, "v1.2.3-rc.1": true, "v1.2.3-4-gabcdef": true, "v0.0.0-20260101000000-abcdefabcdef-dirty": true,
		"1.2.3": false, "": false, "v1.2": false, "v1.2.3/../x": false, "v1.2.3 -X main.y=z": false,
	} {
		if err := (stamp{version: version}).check(); (err == nil) != ok {
			t.Errorf("%q: got %v, want ok %v", version, err, ok)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-x"}, {"now"}, {"-targets", "plan9/amd64"}} {
		if err := run(t.Context(), args, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %v, want wrong usage", args, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := new(builder).replace(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is not replaced") {
		t.Errorf("got %v, want that a folder with other files is not replaced", err)
	}
}
