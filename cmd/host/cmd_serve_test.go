package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServeHTTPWithoutBlock: where nothing is configured, --http alone says that
// it lets everybody on the machine in. The address is taken, whoever has it, so
// that it ends.
func TestServeHTTPWithoutBlock(t *testing.T) {
	if l, err := net.Listen("tcp", "127.0.0.1:7575"); err == nil {
		defer l.Close()
	}
	file := filepath.Join(t.TempDir(), "junctor.hcl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // if whoever had the address let go of it
	defer cancel()
	cmd := exec.CommandContext(ctx, "junctor", "-c", file, "serve", "--http")
	cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+t.TempDir())
	said, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(said), "warning: --http 127.0.0.1:7575 lets every program on this machine in") ||
		!strings.Contains(string(said), "code: listen.address") {
		t.Errorf("%v\n%s", err, said)
	}
}
