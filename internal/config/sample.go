package config

import _ "embed"

//go:embed sample.yaml
var sample string

// Sample is a file with every key, commented out, for a person to begin with.
func Sample() string { return sample }
