package main

import (
	"crypto/sha256"
	"encoding/hex"
)

// commandDigest names a command without showing it: the data is not ours.
func commandDigest(command string) string {
	sum := sha256.Sum256([]byte(command))
	return hex.EncodeToString(sum[:8])
}

// shellReviewed are commands that are said to change something, are judged
// ReadOnly, and were read: each with why the judgement is right.
func shellReviewed() map[string]string {
	return map[string]string{}
}
