package secret

import (
	"io/fs"
	"os"
)

// Files in a user's profile are private by their inherited access list, which mode
// bits do not show. The functions are those of disk_unix.go. They keep no state; disk.go and
// passwordfile.go call them.
func ownedByUser(fs.FileInfo) bool        { return true }
func private(fs.FileInfo) bool            { return true }
func writableByOthers(fs.FileInfo) bool   { return false }
func accessibleByOthers(fs.FileInfo) bool { return false }

func syncDir(string) {}

// claimDescriptor returns nil: Windows passes on handles, not descriptors.
func claimDescriptor(int) *os.File { return nil }
