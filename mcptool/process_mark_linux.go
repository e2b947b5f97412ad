package mcptool

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// What a child starts may leave its process group, by a session of its own, and its
// parent, by outliving it: browsers and daemons do so. So a child has a mark that all
// which it starts inherits: the limit on file locks, RLIMIT_LOCKS, as package sandbox
// has it. It has limited nothing since Linux 2.4, exec keeps it, and a process without
// privilege can only lower it.

// mark marks a child that has just begun. It is called before anybody waits for it;
// 0: it cannot be marked, because it runs as another user, say.
func mark(pid int) uint64 {
	var have unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &have) != nil {
		return 0
	}
	most := min(have.Max, 1<<62)
	if most < 1<<32 { // too few numbers for one that nobody else has
		return 0
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	tag := most/2 + binary.NativeEndian.Uint64(random[:])%(most/2)
	if !markAll(pid, tag, 0) {
		return 0
	}
	return tag
}

// markAll marks a process, and then what it had started before that: from here on its
// children have the mark from the beginning.
func markAll(pid int, tag uint64, depth int) bool {
	const deepest = 8 // of what can be within a moment
	limit := unix.Rlimit{Cur: tag, Max: tag}
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, &limit, nil) != nil {
		return false
	}
	at := "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children"
	text, err := os.ReadFile(at)
	if err != nil || depth == deepest { // not every kernel says so
		return true
	}
	for word := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(word); err == nil {
			markAll(child, tag, depth+1)
		}
	}
	return true
}

// killMarked kills all that has a mark. What forks meanwhile is found by looking again:
// a process that was killed starts nothing more.
func killMarked(tag uint64) {
	if tag == 0 {
		return
	}
	killed := make(map[int]bool)
	for more := true; more; {
		more = false
		for _, pid := range markable() {
			var limit unix.Rlimit
			if killed[pid] || unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit) != nil || limit.Max != tag {
				continue
			}
			killed[pid], more = true, true
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
	}
}

// markable are the numbers of all processes.
func markable() (pids []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // as many as there are
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
