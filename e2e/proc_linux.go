package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// size is what a process holds.
type size struct {
	RSS      int64 `json:"rss"`  // bytes
	Peak     int64 `json:"peak"` // RSS, the most there ever was
	Threads  int   `json:"threads"`
	Files    int   `json:"files"`
	Children int   `json:"children"`
	Zombies  int   `json:"zombies"` // of the children
}

// sizeOf looks at a process.
func sizeOf(pid int) (size, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return size{}, err
	}
	var s size
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch key {
		case "VmRSS":
			s.RSS = n << 10
		case "VmHWM":
			s.Peak = n << 10
		case "Threads":
			s.Threads = int(n)
		}
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return s, err
	}
	s.Files = len(files)
	s.Children, s.Zombies, err = childrenOf(pid)
	return s, err
}

func childrenOf(pid int) (all, zombies int, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, 0, err
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended since
		}
		// The name before it may hold anything, a parenthesis too.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(pid) {
			continue
		}
		if all++; string(fields[0]) == "Z" {
			zombies++
		}
	}
	return all, zombies, nil
}

// runs reports whether a process is there and runs a program: its number may be
// another's by now.
func runs(pid int, program string) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && exe == program
}
