// Package lockfile reads and writes the text of lock files: HCL files beside a configuration with the
// digests of the tools and of the programs of plugins that were accepted.
//
// The package opens no file: config reads lock files and refuses those that others can change, and
// pins writes them. The text of a File is the same for the same digests, so that versions can be
// compared.
//
// Files, from the top: parse.go, file.go.
//
// A File is a value for one goroutine; functions keep no state. The format is an interface: users
// keep lock files in repositories, and older versions read them.
package lockfile
