package inside

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// AttributesOf are the extended attributes of a file that its owner has given it:
// access lists and what programs keep there. Capabilities are not among them:
// new content does not inherit what the old one was trusted with.
func AttributesOf(f *os.File) (map[string][]byte, error) {
	names, err := attribute(func(to []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), to) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading attributes: %w", err)
	}
	kept := make(map[string][]byte)
	for raw := range bytes.SplitSeq(names, []byte{0}) {
		name := string(raw)
		if !strings.HasPrefix(name, "user.") && name != "system.posix_acl_access" {
			continue
		}
		value, err := attribute(func(to []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, to) })
		if err != nil {
			return nil, fmt.Errorf("reading attribute %s: %w", name, err)
		}
		kept[name] = value
	}
	return kept, nil
}

// attribute asks how long something is and then for it.
func attribute(ask func(to []byte) (int, error)) ([]byte, error) {
	n, err := ask(nil)
	if err != nil || n == 0 {
		return nil, err
	}
	to := make([]byte, n)
	n, err = ask(to)
	return to[:max(n, 0)], err
}

func setAttributes(f *os.File, list map[string][]byte) error {
	for name, value := range list {
		if err := unix.Fsetxattr(int(f.Fd()), name, value, 0); err != nil {
			return fmt.Errorf("keeping attribute %s: %w", name, err)
		}
	}
	return nil
}
