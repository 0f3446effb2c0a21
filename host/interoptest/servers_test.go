package interoptest

import (
	"path/filepath"
	"strconv"
	"testing"
)

// everything is the reference server with every feature before 2026-07-28, with
// short delays.
func everything(t *testing.T) server {
	t.Helper()
	npmServers.require(t)
	return server{name: "every", command: []string{"node", npmServers.bin("mcp-server-everything")},
		env: preloaded("servers/hurry.cjs")}
}

// filesystem is the reference server for the files of a directory.
func filesystem(t *testing.T, dir string) server {
	t.Helper()
	npmServers.require(t)
	return server{name: "files", command: []string{"node", npmServers.bin("mcp-server-filesystem"), dir}}
}

// memory is the reference server that keeps a graph in a file.
func memory(t *testing.T) server {
	t.Helper()
	npmServers.require(t)
	return server{
		name: "memory", command: []string{"node", npmServers.bin("mcp-server-memory")},
		env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")},
	}
}

// fastmcp is testdata/interop/python/server.py on the first major version of
// the Python SDK, which supports only revisions with a handshake.
func fastmcp(t *testing.T) server {
	t.Helper()
	pythonOne.require(t)
	return server{name: "py1", command: []string{pythonOne.python(), source("python/server.py")}}
}

// mcpserver is the same on the second major version, which supports 2026-07-28.
func mcpserver(t *testing.T) server {
	t.Helper()
	pythonTwo.require(t)
	return server{name: "py2", command: []string{pythonTwo.python(), "-W", "ignore", source("python/server.py")}}
}

// gosdk is testdata/interop/gosdk, which supports 2026-07-28 and needs only Go.
func gosdk(args ...string) server {
	return server{name: "go", command: append([]string{program("gosdk")}, args...)}
}

// withManyTools is gosdk with a list of tools that is longer than a page of
// Junctor.
func withManyTools(tools, describe int) server {
	return gosdk("-page", "500", "-extra", strconv.Itoa(tools), "-describe", strconv.Itoa(describe)).under("many")
}

// pinned is the server with one configured revision.
func (s server) pinned(revision string) server {
	return s.with("  protocol = " + strconv.Quote(revision) + "\n")
}
