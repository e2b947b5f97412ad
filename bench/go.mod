module github.com/ferrule-dev/ferrule/bench

go 1.26

require github.com/ferrule-dev/ferrule v0.0.0

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/text v0.14.0 // indirect
)

replace github.com/ferrule-dev/ferrule => ../
