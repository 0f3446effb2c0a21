// Package sandbox describes what a program reaches behind the wall of the Linux
// kernel: Landlock limits the files that it reaches, and a seccomp filter the
// sockets that it opens.
//
// It has the [Rules]; package launch starts a program with them. The restrictions
// hold for every process that the program starts, and nothing lifts them.
//
// Landlock only allows. [Around] grants a directory without some directories in
// it by granting its other entries one by one.
//
// The wall does not cover everything: a program can still see that a file exists,
// its size and its times, and list the processes of the machine.
//
// sandbox.go has the types. program.go, needs.go and system.go find what a program reads to start;
// around.go, private.go and walk.go find what must not be granted. probe_linux.go asks the kernel.
//
// Package wall of the cli plugin and package launch use it, and the host to explain. Functions are
// safe for concurrent use; they read the file system and change nothing. A mistake here opens the
// wall: what is granted must be a path without links.
package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/sdk/process"
)

// LauncherName is the file name of the program that sets up the wall.
const LauncherName = "junctor-sandbox"

// Rules say what a program may reach. The zero value allows nothing, not even to
// start: the program's own file must be in Read. They are not changed once made.
type Rules struct {
	// Read holds files and directories, with everything below them, that the
	// program may read and execute. Missing ones are ignored, and paths with
	// symbolic links: resolve them first.
	Read []string `json:"read,omitempty"`
	// List holds directories that the program may list, with the directories below them.
	List []string `json:"list,omitempty"`
	// Write holds files and directories that the program may also change.
	Write []string `json:"write,omitempty"`
	// Data is Write, but for making links, pipes and sockets in a directory. Another program
	// that writes there does not follow a link elsewhere.
	Data []string `json:"data,omitempty"`
	// Devices holds devices that the program may read and write.
	Devices []string `json:"devices,omitempty"`

	Network     Network `json:"network"`
	UnixSockets bool    `json:"unix_sockets,omitempty"` // may open unix sockets
	// Attributes allows changing modes, owners, times and extended attributes.
	// Landlock cannot limit that to some files.
	Attributes bool `json:"attributes,omitempty"`

	// Required makes Start fail if this kernel cannot enforce the rules. Without
	// it, what the kernel cannot enforce is left out.
	Required bool `json:"required,omitempty"`

	// Limits bound the resources of each process, from its first instruction on.
	Limits process.Limits `json:"limits"`
}

// A Network says which internet addresses a program may reach. The kernel can
// limit ports, never hosts.
type Network struct {
	All bool `json:"all,omitempty"`
	// Ports are TCP ports that the program may connect to. Port 53 also allows
	// UDP, which names need and which the kernel cannot limit to a port.
	Ports []uint16 `json:"ports,omitempty"`
}

// Off reports whether every address is refused.
func (n Network) Off() bool { return !n.All && len(n.Ports) == 0 }

// dnsPort is the port of the domain name system.
const dnsPort = 53

// UDP reports whether UDP sockets are allowed.
func (n Network) UDP() bool { return n.All || slices.Contains(n.Ports, dnsPort) }

// String describes the network for people.
func (n Network) String() string {
	switch {
	case n.All:
		return "any address"
	case n.Off():
		return "no network"
	}
	var ports []string
	for _, p := range n.Ports {
		ports = append(ports, strconv.Itoa(int(p)))
	}
	return "TCP port " + strings.Join(ports, ", ") + " of any host"
}

// ParseNetwork parses the setting network of a sandbox block: false, true, or a
// list of TCP ports. An absent setting is false.
func ParseNetwork(setting json.RawMessage) (Network, error) {
	var all bool
	var ports []uint16
	switch {
	case len(setting) == 0 || string(setting) == "null":
		return Network{}, nil
	case json.Unmarshal(setting, &all) == nil:
		return Network{All: all}, nil
	case json.Unmarshal(setting, &ports) == nil && len(ports) > 0 && len(ports) <= maxPorts &&
		!slices.Contains(ports, 0):
		return Network{Ports: ports}, nil
	}
	return Network{}, fmt.Errorf("must be true, false or a list of 1 to %d TCP ports, such as [443]", maxPorts)
}

// maxPorts bounds the ports of a rule.
const maxPorts = 64

// A Support is what this kernel can enforce.
type Support struct {
	Landlock int  `json:"landlock"` // version of the Landlock ABI; 0 is none
	Seccomp  bool `json:"seccomp"`
}

// The least version of the Landlock ABI for each kind of rule.
const (
	filesABI = 3 // files, with truncation
	portsABI = 4 // TCP ports
)

// String describes the support for people.
func (s Support) String() string {
	files, sockets := "files by their text only (the kernel has no Landlock)",
		"sockets not at all (the kernel has no seccomp filters)"
	if s.Landlock > 0 {
		files = fmt.Sprintf("files by Landlock (ABI %d)", s.Landlock)
	}
	if s.Seccomp {
		sockets = "sockets by seccomp"
	}
	return files + ", " + sockets
}

// Missing returns what the kernel lacks to enforce rules completely, or "".
func (s Support) Missing(r *Rules) string {
	switch {
	case s.Landlock == 0:
		return "Landlock"
	case s.Landlock < filesABI:
		return fmt.Sprintf("Landlock with ABI %d (Linux 6.2) and has ABI %d", filesABI, s.Landlock)
	case !s.Seccomp:
		return "seccomp filters"
	case len(r.Network.Ports) > 0 && s.Landlock < portsABI:
		return fmt.Sprintf("Landlock with ABI %d (Linux 6.7) for ports and has ABI %d", portsABI, s.Landlock)
	}
	return ""
}

// An UnsupportedError is returned by launch.Start if Rules.Required is set and
// the kernel cannot enforce the rules.
type UnsupportedError struct{ Missing string }

func (e *UnsupportedError) Error() string {
	return "the sandbox cannot be enforced here: the kernel lacks " + e.Missing
}

// A LaunchError is returned by launch.Start if the wall could not be set up.
type LaunchError struct{ Reason string }

func (e *LaunchError) Error() string { return "setting up the sandbox: " + e.Reason }
