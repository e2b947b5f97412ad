package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// message is what host and keeper tell each other. Files travel beside it.
type message struct {
	Do string `json:"do"`
	ID uint64 `json:"id,omitempty"`

	Setup *setup  `json:"setup,omitempty"` // do "setup"
	Order *wanted `json:"order,omitempty"` // do "start"
	Error string  `json:"error,omitempty"` // of "ready" and "started"

	Applied *Applied `json:"applied,omitempty"` // do "ready"
	Tag     uint64   `json:"tag,omitempty"`     // of "ready": the first, 0 if there are none

	Code   int    `json:"code,omitempty"` // do "ended", and below
	Signal string `json:"signal,omitempty"`
	Why    string `json:"why,omitempty"`
	Peak   int64  `json:"peak,omitempty"`
}

// What messages do. The host says setup, start, terminate and kill; the keeper
// says ready, started and ended.
const (
	doSetup     = "setup"
	doStart     = "start"
	doTerminate = "terminate"
	doKill      = "kill"
	doReady     = "ready"
	doStarted   = "started"
	doEnded     = "ended"
)

// setup is all that a keeper needs to know before the first command.
type setup struct {
	Namespaces bool
	Network    Network
	Workspace  []string
	Read       []string
	Write      []string
	Protected  []string
	Hidden     []string
	State      string
	Limits     Limits
	Bubblewrap string // run commands by this program instead of Landlock
}

// wanted is a command.
type wanted struct {
	Args      []string
	Dir       string
	Env       []string
	ReadOnly  bool
	Memory    int64
	Processes int
}

// wire is one end of the connection.
type wire struct {
	conn *net.UnixConn
	mu   sync.Mutex // one message at a time
}

// newWire takes over a file that is a socket.
func newWire(file *os.File) (*wire, error) {
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("got a %T, want a Unix socket", conn)
	}
	return &wire{conn: unixConn}, nil
}

// close ends the connection, and whoever waits for a message.
func (w *wire) close() {
	_ = w.conn.Close() // there is nothing to be lost
}

// A message begins with its length and the number of files that come with it.
const headLength = 8

func (w *wire) send(m message, files ...*os.File) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	all := make([]byte, headLength, headLength+len(body))
	binary.LittleEndian.PutUint32(all, uint32(len(body)))      //nolint:gosec // far below 4 GiB
	binary.LittleEndian.PutUint32(all[4:], uint32(len(files))) //nolint:gosec // three
	all = append(all, body...)
	var beside []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		beside = unix.UnixRights(fds...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n, _, err := w.conn.WriteMsgUnix(all, beside, nil)
	if err != nil {
		return err
	}
	if n < len(all) {
		_, err = w.conn.Write(all[n:])
	}
	return err
}

func (w *wire) receive() (message, []*os.File, error) {
	head := make([]byte, headLength)
	beside := make([]byte, unix.CmsgSpace(4*4))
	n, besideLength, _, _, err := w.conn.ReadMsgUnix(head, beside)
	if err != nil {
		return message{}, nil, err
	}
	if n == 0 {
		return message{}, nil, io.EOF
	}
	files, err := filesOf(beside[:besideLength])
	if err == nil && n < headLength {
		_, err = io.ReadFull(w.conn, head[n:])
	}
	var m message
	if err == nil {
		body := make([]byte, binary.LittleEndian.Uint32(head))
		if _, err = io.ReadFull(w.conn, body); err == nil {
			err = json.Unmarshal(body, &m)
		}
	}
	if err != nil {
		closeAll(files)
		return message{}, nil, err
	}
	return m, files, nil
}

func filesOf(beside []byte) ([]*os.File, error) {
	if len(beside) == 0 {
		return nil, nil
	}
	all, err := unix.ParseSocketControlMessage(beside)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, c := range all {
		fds, err := unix.ParseUnixRights(&c)
		if err != nil {
			return nil, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "stream"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
