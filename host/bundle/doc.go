// Package bundle reads MCP bundles (.mcpb): zip archives with a server and a manifest.
//
// [Open] checks every name, size and kind of file before anything is written. [Bundle.Server]
// says how the server is started from a directory, and [Bundle.Unpack] writes the files into
// it. A bundle is untrusted: its names, numbers and sizes are bounded, and links are refused.
//
// archive.go checks and unpacks, manifest.go reads the manifest, and server.go makes the server of
// it. Only the verb import uses the package. A [Bundle] reads from the archive until Unpack
// returns: the caller keeps it open and closes it. It is for one goroutine.
package bundle
