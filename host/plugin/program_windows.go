package plugin

import "io/fs"

func sameVersion(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// writableByOthers does not look at access control lists.
func writableByOthers(string) string { return "" }
