package secret

import (
	"io/fs"
	"os"
)

// A file in a user's profile is private by its inherited access list, which
// modes say nothing of.
func ours(fs.FileInfo) bool        { return true }
func private(fs.FileInfo) bool     { return true }
func othersWrite(fs.FileInfo) bool { return false }
func othersTouch(fs.FileInfo) bool { return false }

func syncDir(string) {}

// claimDescriptor finds none: Windows hands on handles, not descriptors.
func claimDescriptor(int) *os.File { return nil }
