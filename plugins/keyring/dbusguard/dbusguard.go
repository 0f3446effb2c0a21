// Package dbusguard keeps the session bus away from libraries that dial it before
// main begins, and wait for its answer for ever.
//
// Packages are initialised in the order of their paths, each as soon as all
// that it imports is: the language says so. This one imports package os alone;
// whatever dials a bus needs packages whose paths come after this one's. So
// this one is first, and takes the address away. Only a [Worker] keeps it,
// which is a process of its own that may hang.
package dbusguard

import "os"

// Worker is the argument that makes a worker of this program.
const Worker = "operate"

const variable = "DBUS_SESSION_BUS_ADDRESS"

// Nowhere is an address at which nothing ever listens. With no address at all,
// the library would look for one, or start a bus.
const Nowhere = "unix:path=/dev/null/no-session-bus"

var address = takeAway()

func takeAway() string {
	given := os.Getenv(variable)
	if len(os.Args) != 2 || os.Args[1] != Worker {
		_ = os.Setenv(variable, Nowhere)
	}
	return given
}

// Given is the address that this program was started with; empty: none.
func Given() string { return address }

// Environ is the environment for a worker that uses the bus of an address. The
// variable is there: it is Nowhere, in every process that is no worker.
func Environ(address string) []string {
	env := os.Environ()
	for i, v := range env {
		if len(v) > len(variable) && v[:len(variable)+1] == variable+"=" {
			env[i] = variable + "=" + address
		}
	}
	return env
}
