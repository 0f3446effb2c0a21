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

// TestServeHTTPWithoutBlock: without a configuration, --http warns that it admits all
// users of the machine. The address is in use, so that the verb ends.
func TestServeHTTPWithoutBlock(t *testing.T) {
	if l, err := net.Listen("tcp", "127.0.0.1:7575"); err == nil {
		defer l.Close()
	}
	file := filepath.Join(t.TempDir(), "junctor.hcl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // in case the address becomes free
	defer cancel()
	cmd := exec.CommandContext(ctx, "junctor", "-c", file, "serve", "--http")
	cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+t.TempDir())
	said, err := cmd.CombinedOutput()
	if err == nil ||
		!strings.HasPrefix(string(said), "warning: --http 127.0.0.1:7575 lets every program on this machine in") ||
		!strings.Contains(string(said), "code: listen.address") {
		t.Errorf("%v\n%s", err, said)
	}
}
