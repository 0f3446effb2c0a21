package serve

import "os"

// maxComm is the length of a process's name on Linux, in bytes.
const maxComm = 15

// nameProcess names the process in ps and pstree after the plugin. The host runs a program by
// a descriptor, so the system would call it by a number.
func nameProcess(plugin string) {
	name := "junctor-" + plugin
	_ = os.WriteFile("/proc/self/comm", []byte(name[:min(len(name), maxComm)]), 0) // the number stays
}
