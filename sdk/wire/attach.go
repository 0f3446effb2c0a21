package wire

import "strings"

// AttachVariable names the variable of the host's environment that holds the
// socket of a plugin which was started by hand, with the argument "attach".
func AttachVariable(name string) string {
	return "JUNCTOR_ATTACH_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
