package wire

import "os"

// enlarge does nothing: the system sizes pipes by itself.
func enlarge(*os.File) {}
