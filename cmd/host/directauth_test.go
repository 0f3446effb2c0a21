//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDirectServerRefusesTheToken: a server of the command line has no block, so the hint is
// about the command line.
func TestDirectServerRefusesTheToken(t *testing.T) {
	t.Parallel()
	s := startGatewaySite(t, "    listen = \"127.0.0.1:0\"\n"+tokenBlock("ann", annToken))
	build(t, filepath.Join(filepath.Dir(s.path), "plugins", "junctor-plugin-http"), "./plugins/http")
	for name, flags := range map[string][]string{
		"no token":      nil,
		"another token": {"--header", "Authorization: Bearer 0123456789abcdef"},
	} {
		_, errs, status := s.junctor(append([]string{"--text", "tools", "--url", s.url}, flags...)...)
		if status == 0 ||
			!strings.Contains(errs, "hint: the server does not accept the credentials; give them with --header") ||
			strings.Contains(errs, "0123456789abcdef") {
			t.Errorf("%s: %d: %s", name, status, errs)
		}
	}
	if out, errs, status := s.junctor("--text", "tools", "--url", s.url, "--header",
		"Authorization: Bearer "+annToken); status != 0 || !strings.Contains(out, "add") {
		t.Errorf("with the token: %d: %s", status, errs)
	}
}
