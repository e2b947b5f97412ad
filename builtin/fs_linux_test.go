package builtin_test

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestFilesSpecial(t *testing.T) {
	t.Parallel()
	b := newFiles(t, map[string]string{"a": "text\n"})
	if err := syscall.Mkfifo(filepath.Join(b.work, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	var listen net.ListenConfig
	socket, err := listen.Listen(t.Context(), "unix", filepath.Join(b.work, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	names := []string{"pipe", "sock"}
	if err := syscall.Mknod(filepath.Join(b.work, "zero"), syscall.S_IFCHR|0o666, 1<<8|5); err == nil { // /dev/zero
		names = append(names, "zero")
	} else {
		t.Logf("no device is made: %v", err)
	}
	for _, name := range names {
		t.Run("I1 special: "+name, func(t *testing.T) {
			for tool, input := range map[string]string{
				"fs_read": `{"path":"$"}`, "fs_write": `{"path":"$","content":"x"}`, "fs_edit": `{"path":"$","edits":[{"old":"a","new":"b"}]}`, "fs_grep": `{"path":"$","pattern":"."}`, "fs_list": `{"path":"$"}`,
			} {
				r := b.on(t).do(tool, strings.ReplaceAll(input, "$", name)) // and does not wait for who writes
				if r.Err == nil {
					t.Errorf("%s: got %q, want a refusal", tool, r)
				}
			}
		})
	}
	t.Run("I1 special: walks pass them over", func(t *testing.T) {
		check(t, b.on(t).do("fs_grep", `{"pattern":"."}`), "a:1:text")
		check(t, b.on(t).do("fs_glob", `{"pattern":"*"}`), "a")
	})
}

func TestFilesAttributes(t *testing.T) {
	t.Parallel()
	t.Run("I1 write: access list and attributes are kept, by undo too", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"a": "old"})
		file := filepath.Join(b.work, "a")
		// user::rw- user:1234:rw- group::--- mask::rw- other::---
		list := []byte{2, 0, 0, 0}
		for _, e := range []struct {
			tag, perm uint16
			id        uint32
		}{{1, 6, 1<<32 - 1}, {2, 6, 1234}, {4, 0, 1<<32 - 1}, {16, 6, 1<<32 - 1}, {32, 0, 1<<32 - 1}} {
			list = binary.LittleEndian.AppendUint16(list, e.tag)
			list = binary.LittleEndian.AppendUint16(list, e.perm)
			list = binary.LittleEndian.AppendUint32(list, e.id)
		}
		want := map[string]string{"user.note": "mine", "user.empty": ""}
		if err := syscall.Setxattr(file, "system.posix_acl_access", list, 0); err == nil {
			want["system.posix_acl_access"] = string(list)
		}
		if err := errors.Join(syscall.Setxattr(file, "user.note", []byte("mine"), 0), syscall.Setxattr(file, "user.empty", nil, 0)); err != nil {
			t.Skipf("no attributes here: %v", err)
		}
		kept := func(when string) {
			for name, value := range want {
				got := make([]byte, 1000)
				if n, err := syscall.Getxattr(file, name, got); err != nil || string(got[:n]) != value {
					t.Errorf("%s: %s: got %q, %v, want %q", when, name, got[:max(n, 0)], err, value)
				}
			}
		}
		b.do("fs_write", `{"path":"a","content":"new"}`)
		kept("written")
		b.do("fs_edit", `{"path":"a","edits":[{"old":"new","new":"newer"}]}`)
		kept("edited")
		changes, err := b.history.List(t.Context())
		if err != nil || len(changes) != 2 {
			t.Fatalf("got %v, %v, want two changes", changes, err)
		}
		if _, err := b.history.Restore(t.Context(), changes[0].ID, false); err != nil {
			t.Fatal(err)
		}
		kept("restored")
	})
}

func TestFilesForeignLink(t *testing.T) {
	t.Parallel()
	t.Run("I1 hard link: of somebody else's file is not read", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"own": "needle"})
		theirs := filepath.Join(t.TempDir(), "theirs")
		if err := os.WriteFile(theirs, []byte("needle"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(theirs, 1234, 1234); err != nil {
			t.Skipf("files cannot be given away: %v", err)
		}
		if err := os.Link(theirs, filepath.Join(b.work, "linked")); err != nil {
			t.Skip(err)
		}
		if err := os.Link(filepath.Join(b.work, "own"), filepath.Join(b.work, "own2")); err != nil {
			t.Fatal(err)
		}
		check(t, b.do("fs_read", `{"path":"linked"}`), "!linked belongs to somebody else and has a second name, perhaps outside of the workspace: it is not read.")
		check(t, b.do("fs_grep", `{"pattern":"needle"}`), "own:1:needle\nown2:1:needle")
		check(t, b.do("fs_read", `{"path":"own2"}`), "needle")
	})
}

func TestFilesUnreadable(t *testing.T) {
	t.Parallel()
	t.Run("I1 preview: a file that cannot be read for a copy is not promised", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, map[string]string{"a": "old"})
		without := b.on(t)
		without.files.Undo = nil
		without.open()
		if err := errors.Join(os.Chmod(filepath.Dir(b.work), 0o755), os.Chmod(filepath.Join(b.work, "a"), 0o200)); err != nil {
			t.Fatal(err)
		}
		const input = `{"path":"a","content":"new"}`
		for _, tt := range []struct {
			b    *fsBench
			want string
		}{
			{b, "It would fail: a cannot be read, so no copy of it can be kept by which the change could be undone."},
			{without, "a: all of it is replaced by 1 line; what it holds now cannot be shown."},
		} {
			args := tt.b.args("fs_write", input)
			var got string
			var err error
			asNobody(func() { got, err = tt.b.tools["fs_write"].Preview(t.Context(), args) })
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		}
	})
}

// asNobody does something without root's right to read any file, in a thread of
// its own, which ends with that.
func asNobody(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and does not unlock: nobody else is given the thread
		if os.Geteuid() == 0 {
			const nobody = 65534
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0) // it says what was, not whether it did
		}
		do()
	}()
	<-done
}

func TestFilesFullDisk(t *testing.T) {
	t.Parallel()
	t.Run("I1 write: a full disk changes nothing", func(t *testing.T) {
		t.Parallel()
		b := newFiles(t, nil)
		if err := syscall.Mount("tmpfs", b.work, "tmpfs", 0, "size=64k"); err != nil {
			t.Skipf("a small disk cannot be mounted: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(b.work, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		b.open()
		b.put("a", "old")
		check(t, b.do("fs_write", `{"path":"a","content":"`+strings.Repeat("x", 100<<10)+`"}`), "!a: the disk is full. Nothing was changed.")
		check(t, b.do("fs_write", `{"path":"x/y","parents":true,"content":"`+strings.Repeat("x", 100<<10)+`"}`), "!x/y: the disk is full. Nothing was changed.")
		check(t, b.do("fs_list", `{}`), "a  3 bytes")
		if b.content("a") != "old" {
			t.Errorf("got %q, want it as it was", b.content("a"))
		}
		list, err := b.history.List(t.Context())
		if err != nil || len(list) != 2 || list[0].Outcome != "failed" {
			t.Errorf("got %+v, %v, want two that failed", list, err)
		}
	})
}
