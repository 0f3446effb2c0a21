package interoptest

import (
	"path/filepath"
	"strconv"
	"testing"
)

// everything is the reference server that uses every feature there was before
// 2026-07-28, in a hurry.
func everything(t *testing.T) server {
	t.Helper()
	npmServers.require(t)
	return server{name: "every", command: []string{"node", npmServers.bin("mcp-server-everything")}, env: preloaded("servers/hurry.cjs")}
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

// fastmcp is testdata/interop/python/server.py on the first major of the
// Python SDK, which knows revisions with a handshake only.
func fastmcp(t *testing.T) server {
	t.Helper()
	pythonOne.require(t)
	return server{name: "py1", command: []string{pythonOne.python(), source("python/server.py")}}
}

// mcpserver is the same on the second major, which knows 2026-07-28.
func mcpserver(t *testing.T) server {
	t.Helper()
	pythonTwo.require(t)
	return server{name: "py2", command: []string{pythonTwo.python(), "-W", "ignore", source("python/server.py")}}
}

// gosdk is testdata/interop/gosdk, which knows 2026-07-28 and needs nothing
// but Go.
func gosdk(args ...string) server {
	return server{name: "go", command: append([]string{program("gosdk")}, args...)}
}

// crowded is gosdk with a list of tools that fills more than one page of
// Junctor's.
func crowded(tools, describe int) server {
	return gosdk("-page", "500", "-extra", strconv.Itoa(tools), "-describe", strconv.Itoa(describe)).under("crowd")
}

// pinned is the same server, with which Junctor may speak one revision only.
func (s server) pinned(revision string) server {
	return s.with("  protocol = " + strconv.Quote(revision) + "\n")
}
