// Package ownership reports files and directories that another user could change. On
// Windows it does not check access control lists and reports nothing.
package ownership

import "path/filepath"

// Exposed returns empty strings.
func Exposed(string) (why, command string) { return "", "" }

// Private returns true: the access list of a directory is not looked at.
func Private(string) bool { return true }

// Own returns true: the owner of a file is not looked at.
func Own(string) bool { return true }

// SameDevice returns whether two paths are on one volume.
func SameDevice(a, b string) bool { return filepath.VolumeName(a) == filepath.VolumeName(b) }

// Unmanaged returns "": the directory of programs belongs to the administrators.
func Unmanaged(string) string { return "" }

// Readable returns empty strings.
func Readable(string) (why, command string) { return "", "" }
