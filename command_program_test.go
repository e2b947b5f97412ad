package ferrule

import (
	"encoding/json"
	"os"
	"strings"
)

// runTestProgram is a hook that is a program: see TestMain. It returns its exit
// status.
func runTestProgram(name string) int {
	var event struct {
		Event string
		Input struct{ Text string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&event); err != nil {
		return 1
	}
	answer := map[string]any{"decision": "allow"}
	switch name {
	case "double":
		answer = map[string]any{"decision": "change", "input": map[string]string{"text": event.Input.Text + event.Input.Text}}
	case "flood":
		answer["context"] = strings.Repeat("x", maxAnswer)
	case "panic":
		panic("its stack is for the operator")
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		return 1
	}
	return 0
}
