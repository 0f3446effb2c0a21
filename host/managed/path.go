package managed

import "runtime"

// Path returns the file with the managed configuration of this machine. It is the same for
// all users, and nothing in the environment changes it. Package main of the command line calls it
// once.
func Path() string {
	switch runtime.GOOS {
	case "windows":
		return `C:\Program Files\Junctor\managed.hcl`
	case "darwin":
		return "/Library/Application Support/Junctor/managed.hcl"
	}
	return "/etc/junctor/managed.hcl"
}
