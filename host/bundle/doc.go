// Package bundle reads MCP bundles (.mcpb): zip archives with a server and a manifest.
//
// [Open] checks every name, size and kind of file before anything is written. [Bundle.Server]
// says how the server is started from a directory, and [Bundle.Unpack] writes the files into
// it. A bundle is untrusted: its names, numbers and sizes are bounded, and links are refused.
package bundle
