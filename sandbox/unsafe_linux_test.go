package sandbox

import "unsafe"

func addressOf(b *byte) uintptr { return uintptr(unsafe.Pointer(b)) }
