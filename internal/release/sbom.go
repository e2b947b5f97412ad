package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// document is a list of what a program is made of: SPDX 2.3.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID        string        `json:"SPDXID"`
	Name      string        `json:"name"`
	Version   string        `json:"versionInfo"`
	FileName  string        `json:"packageFileName,omitempty"`
	Supplier  string        `json:"supplier"`
	From      string        `json:"downloadLocation"`
	Analyzed  bool          `json:"filesAnalyzed"`
	Checksums []checksum    `json:"checksums,omitempty"`
	Concluded string        `json:"licenseConcluded"`
	Declared  string        `json:"licenseDeclared"`
	Comments  string        `json:"licenseComments,omitempty"`
	Copyright string        `json:"copyrightText"`
	Comment   string        `json:"comment,omitempty"`
	Refs      []externalRef `json:"externalRefs,omitempty"`
	Purpose   string        `json:"primaryPackagePurpose"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type externalRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Of   string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// home is where the source is.
const home = "github.com/ferrule-dev/ferrule"

const noAssertion = "NOASSERTION"

// bill lists what a program is made of. Its time is that of the commit, and its name
// holds the sum of the program: the same program has the same list.
func bill(s stamp, t target, name string, digest [32]byte, parts []part) ([]byte, error) {
	sum := hex.EncodeToString(digest[:])
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: "https://" + home + "/spdx/" + name + "/" + sum,
		Creation:  creation{s.time().Format(time.RFC3339), []string{"Tool: ferrule-release"}},
	}
	program := spdxPackage{
		ID: "SPDXRef-ferrule", Name: "ferrule", Version: s.version, FileName: t.program(), Supplier: "Organization: Ferrule",
		From: "git+https://" + home + "@" + s.commit, Checksums: []checksum{{"SHA256", sum}},
		Concluded: "Apache-2.0", Declared: "Apache-2.0", Copyright: noAssertion, Comment: "for " + t.String(),
		Refs: purl("golang/" + home + "@" + s.version), Purpose: "APPLICATION",
	}
	d.Packages = append(d.Packages, program)
	d.Relationships = append(d.Relationships, relationship{d.ID, "DESCRIBES", program.ID})
	for _, p := range parts {
		m := p.spdx()
		d.Packages = append(d.Packages, m)
		d.Relationships = append(d.Relationships, relationship{program.ID, "CONTAINS", m.ID})
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

func (p part) spdx() spdxPackage {
	m := spdxPackage{
		ID: "SPDXRef-" + regexp.MustCompile(`[^A-Za-z0-9.]+`).ReplaceAllString(p.path+"-"+p.version, "-"), Name: p.path, Version: p.version,
		Supplier: noAssertion, From: noAssertion, Concluded: p.expression(), Declared: p.expression(), Comments: p.notes, Copyright: noAssertion, Purpose: "LIBRARY",
	}
	if p.licenses == nil {
		m.Concluded, m.Declared = noAssertion, noAssertion
	}
	switch {
	case p.sum != "":
		m.From = fmt.Sprintf("https://proxy.golang.org/%s/@v/%s.zip", escaped(p.path), escaped(p.version))
		m.Refs, m.Comment = purl("golang/"+p.path+"@"+p.version), "go.sum "+p.sum
	case p.path == "stdlib":
		m.From = "https://go.dev/dl/" + p.version + ".src.tar.gz"
		m.Refs = purl("golang/stdlib@" + strings.TrimPrefix(p.version, "go"))
	}
	return m
}

// escaped is a path as a module proxy has it: a capital is a small letter behind an !.
func escaped(path string) string {
	return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(path, func(c string) string { return "!" + strings.ToLower(c) })
}

func purl(locator string) []externalRef {
	return []externalRef{{"PACKAGE-MANAGER", "purl", "pkg:" + strings.ReplaceAll(locator, "+", "%2B")}}
}
