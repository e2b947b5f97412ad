//go:build !unix

package store_test

import "context"

func childUnable(context.Context, string) error { return nil }

func childUmask(context.Context, string) error { return nil }
