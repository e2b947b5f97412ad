// Server is a small MCP server that tests start as a child. It is built without the
// race detector, and of the standard library alone: there are hundreds of them.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// The variables are those of server_test.go.
const (
	beServer     = "FERRULE_TEST_SERVER"
	actingServer = "acting"
	heldPipe     = "FERRULE_TEST_PIPE"
)

func main() {
	role := os.Getenv(beServer)
	if role != "stubborn" && role != "orphan" {
		serveTest(os.Stdin, os.Stdout)
		return
	}
	signal.Ignore(syscall.SIGTERM)
	if held, err := os.OpenFile(os.Getenv(heldPipe), os.O_WRONLY, 0); err == nil {
		defer held.Close()
		_, _ = held.WriteString("here\n")
	}
	if role == "stubborn" {
		orphan := exec.Command(os.Args[0])
		orphan.Env = append(os.Environ(), beServer+"=orphan")
		if orphan.Start() == nil {
			serveTest(os.Stdin, os.Stdout)
		}
	}
	<-time.After(time.Hour)
}

// serveTest is a small MCP server of the old era. Its tools say what they were given,
// what a variable of its environment holds, and fail; one cannot be offered. Where
// FERRULE_TEST_TOOLS names a file, its tools are those of the file.
func serveTest(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string `json:"protocolVersion"`
				Name      string `json:"name"`
				Arguments struct {
					Text string `json:"text"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "initialize":
			answer["result"] = map[string]any{
				"protocolVersion": m.Params.Version, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
				"serverInfo": map[string]any{"name": "test", "version": "1"}, "instructions": os.Getenv("FERRULE_TEST_INSTRUCTS"),
			}
		case "ping":
			answer["result"] = map[string]any{}
		case "tools/list":
			if list, err := os.ReadFile(os.Getenv("FERRULE_TEST_TOOLS")); err == nil {
				answer["result"] = map[string]any{"tools": json.RawMessage(list)}
				break
			}
			object := map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}
			tools := []any{
				map[string]any{"name": "echo", "description": cmp.Or(os.Getenv("FERRULE_TEST_SAYS"), "Say it again."), "inputSchema": object, "annotations": map[string]any{"readOnlyHint": true, "openWorldHint": false}},
				map[string]any{"name": "env", "description": "Say a variable.", "inputSchema": object},
				map[string]any{"name": "odd", "inputSchema": 3},
			}
			if os.Getenv(beServer) == actingServer {
				for _, name := range []string{"write", "dial"} {
					tools = append(tools, map[string]any{"name": name, "description": "Do it, and say what came of it.", "inputSchema": object})
				}
			}
			answer["result"] = map[string]any{"tools": tools}
		case "tools/call":
			text := m.Params.Arguments.Text
			switch m.Params.Name {
			case "env":
				text = os.Getenv(text)
			case "write":
				text = fmt.Sprint(os.WriteFile(text, []byte("x"), 0o600))
			case "dial":
				c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", text)
				if err == nil {
					err = c.Close()
				}
				text = fmt.Sprint(err)
			}
			answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
		default:
			answer["error"] = map[string]any{"code": -32601, "message": "no such method"}
		}
		b, err := json.Marshal(answer)
		if err != nil {
			return
		}
		if _, err := out.Write(append(b, '\n')); err != nil {
			return
		}
		if m.Method == "tools/call" && os.Getenv("FERRULE_TEST_TOOLS") != "" { // the list may be another by now
			if _, err := io.WriteString(out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n"); err != nil {
				return
			}
		}
	}
}
