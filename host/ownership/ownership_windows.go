// Package ownership reports files and directories that another user could change. On
// Windows it does not check access control lists and reports nothing.
package ownership

// Exposed returns empty strings.
func Exposed(string) (why, command string) { return "", "" }

// Private returns true: the access list of a directory is not looked at.
func Private(string) bool { return true }

// Unmanaged returns "": the directory of programs belongs to the administrators.
func Unmanaged(string) string { return "" }

// Readable returns empty strings.
func Readable(string) (why, command string) { return "", "" }
