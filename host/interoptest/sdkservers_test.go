package interoptest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// The kits of servers that only the tests of restarts use.
var (
	pythonFastmcp = &kit{
		name: "fastmcp", origin: "PyPI", needs: []string{"python3"}, install: pipInstall,
		sources: []string{"python/requirements-fastmcp.txt"},
	}
	mavenSDK = &kit{
		name: "java", origin: "Maven Central", needs: []string{"mvn", "javac", "java"}, install: mavenInstall,
		sources: []string{"java/pom.xml", "java/RestartServer.java"},
	}
	// cargoSDK compiles about a hundred crates, for more than a minute of processor time.
	// Only make soak uses it.
	cargoSDK = &kit{
		name: "rmcp", origin: "crates.io", needs: []string{"cargo"}, install: cargoInstall,
		sources: []string{"rmcp/Cargo.toml", "rmcp/Cargo.lock", "rmcp/src/main.rs"},
	}
)

func mavenInstall(ctx context.Context, k *kit) error {
	if err := os.MkdirAll(k.dir(), 0o755); err != nil {
		return err
	}
	for _, name := range k.sources {
		b, err := os.ReadFile(source(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(k.path(filepath.Base(name)), b, 0o644); err != nil {
			return err
		}
	}
	if err := tool(ctx, k.dir(), "mvn", "-B", "-q", "dependency:copy-dependencies",
		"-DoutputDirectory=lib"); err != nil {
		return err
	}
	return tool(ctx, k.dir(), "javac", "-nowarn", "-cp", filepath.Join("lib", "*"), "-d", ".", "RestartServer.java")
}

func cargoInstall(ctx context.Context, k *kit) error {
	return tool(ctx, repository, "cargo", "build", "--locked", "--quiet", "--manifest-path", source("rmcp/Cargo.toml"),
		"--target-dir", k.path("target"))
}

// sessionsOf returns testdata/interop/clients/sessions.mjs, whose clients share a transport
// or have one each.
func sessionsOf(transports string) func(*testing.T) server {
	return func(t *testing.T) server {
		t.Helper()
		npmClients.require(t)
		return server{name: "it", command: []string{"node", npmClients.path("sessions.mjs"), transports}}.listen(t,
			"http", "/mcp")
	}
}

// fastmcpPackage returns testdata/interop/python/fastmcp_server.py.
func fastmcpPackage(t *testing.T) server {
	t.Helper()
	pythonFastmcp.require(t)
	return server{name: "it", command: []string{pythonFastmcp.python(), "-W", "ignore",
		source("python/fastmcp_server.py"), "$PORT"}}.listen(t, "http", "/mcp")
}

// javaServer returns testdata/interop/java.
func javaServer(t *testing.T) server {
	t.Helper()
	mavenSDK.require(t)
	return server{name: "it", command: []string{
		"java", "-cp", mavenSDK.dir() + string(filepath.ListSeparator) + mavenSDK.path("lib", "*"), "RestartServer",
	}}.listen(t, "http", "/mcp")
}

// rustServer returns testdata/interop/rmcp.
func rustServer(t *testing.T) server {
	t.Helper()
	rarely(t)
	cargoSDK.require(t)
	return server{name: "it", command: []string{cargoSDK.path("target", "debug", "junctor-interop-rmcp")}}.listen(t,
		"http", "/mcp")
}
