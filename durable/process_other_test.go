//go:build !unix

package durable_test

func systemChildren() map[string]func(string) error { return nil }
