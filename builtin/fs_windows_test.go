package builtin_test

import "io/fs"

func ownerOf(fs.FileInfo) (uid, gid uint32) { return 0, 0 }
