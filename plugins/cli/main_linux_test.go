package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launch"
)

// TestMain builds the launcher of the wall, which an installation has beside the
// plugin.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "junctor-cli-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	launcher := filepath.Join(dir, sandbox.LauncherName)
	if arena := os.Getenv(arenaVariable); arena != "" {
		launcher = filepath.Join(arena, sandbox.LauncherName)
		launch.LauncherPath = func() string { return launcher }
		os.Exit(m.Run())
	}
	build := exec.Command("go", "build", "-o", launcher, "../internal/launcher")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the launcher: %v\n%s", err, text)
		os.Exit(1)
	}
	launch.LauncherPath = func() string { return launcher }
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}
