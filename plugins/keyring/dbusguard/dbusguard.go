// Package dbusguard hides the session bus from libraries that connect to it
// during initialization and wait for it without a timeout.
//
// Go initializes packages in the order of their paths, each as soon as its
// imports are initialized. This package imports package os only. Libraries for
// D-Bus import packages with later paths. So this package comes first and
// changes the variable with the address. Only a [Worker] keeps the address; it
// is a separate process that may hang.
package dbusguard

import "os"

// Worker is the argument that makes this program a worker.
const Worker = "operate"

const variable = "DBUS_SESSION_BUS_ADDRESS"

// Nowhere is an address without a listener. Without any address, the library
// would search for a bus or start one.
const Nowhere = "unix:path=/dev/null/no-session-bus"

var address = takeAway()

func takeAway() string {
	given := os.Getenv(variable)
	if len(os.Args) != 2 || os.Args[1] != Worker {
		_ = os.Setenv(variable, Nowhere)
	}
	return given
}

// Given returns the address that this program was started with; empty if none.
func Given() string { return address }

// Environ returns the environment of a worker that uses the bus at address. The
// variable exists in every process that is not a worker, because it is set to
// Nowhere.
func Environ(address string) []string {
	env := os.Environ()
	for i, v := range env {
		if len(v) > len(variable) && v[:len(variable)+1] == variable+"=" {
			env[i] = variable + "=" + address
		}
	}
	return env
}
