package inside_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrule-dev/ferrule/internal/inside"
)

func Example() {
	folder, err := os.MkdirTemp("", "inside")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := os.Symlink("/etc", filepath.Join(folder, "way")); err != nil {
		log.Fatal(err)
	}
	top, err := inside.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer top.Close()

	fmt.Println(inside.Replace(top, "a.txt", strings.NewReader("hello"), inside.Keep{}))
	_, err = inside.Folder(top, "way/ssl", nil)
	fmt.Println(err)
	// Output:
	// <nil>
	// way: is a symbolic link
}
