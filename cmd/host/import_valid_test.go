package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// An entryMaker makes entries of clients at random.
type entryMaker struct{ *rand.Rand }

func (s entryMaker) of(all []string) string { return all[s.IntN(len(all))] }

// oddTexts are what people and attackers write into the files of clients.
var oddTexts = []string{
	"x", "", " ", "${X}", "$X", "${X:-d}", "{env:X}", "${env:X:-}", "{file:/k}", "{file:./k}", "{file:~/k}", "{file:~}",
	"{file:/}", "${input:a b}", "${input:}", "${workspaceFolder}/x", "${/}", "${extensionPath}", "${{ secrets.A-B.C }}",
	"${cmd:gh auth token}", "Bearer ${cmd:gh 'a b'}", "Bearer op://v/i", "$(x)", "<A>", "%{if true}", "${", "$${X}",
	"%%{", "\"", "\\", "a\nb", "\r", "\t", "\u202e", "\u0001", "é高", "a,b", "https://h.example/mcp",
	"https://u:p4ssw0rd@h.example", "http://${H}/x", "ftp://x", "https://", "localhost:1", "--token=abcdefgh",
	"postgres://u:sekret12345@${H}/d", "10s", "1h", "1000h", "true", "FALSE", "sse", "oauth",
	"http://localhost:3118/callback", "http://localhost:99999/", "http://localhost:0/x",
	"https://a.example/.well-known/oauth-authorization-server", "*", "a b c", "X-A", "Content-Length", "0", "-1",
	"keyring(\"x\")", "sk-abcdefghijkl", "Authorization", "client_credentials",
}

var oddNames = []string{"A", "API_KEY", "a-b", "a b", "", "=", "X=Y", "PATH", "Authorization", "X-Api-Key", "Host", "é",
	"a\n", "0", "clientId", "clientSecret", "scopes", "redirect_uri", "callbackPort", "toolFilter", "headers",
	"enabled", "issuer"}

func (s entryMaker) value(depth int) any {
	switch n := s.IntN(10); {
	case n < 5 || depth == 0:
		return s.of(oddTexts)
	case n == 5:
		return []any{0, 1, -1, 0.0001, 601, 1e9, 1e300, 60000}[s.IntN(8)]
	case n == 6:
		return s.IntN(2) == 0
	case n == 7:
		var all []any
		for range s.IntN(4) {
			all = append(all, s.value(depth-1))
		}
		return all
	}
	all := map[string]any{}
	for range s.IntN(4) {
		all[s.of(oddNames)] = s.value(depth - 1)
	}
	return all
}

// TestImportsAreValid: whatever a client's file says, the blocks are a configuration that
// validates.
func TestImportsAreValid(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	bin := t.TempDir()
	build(t, filepath.Join(bin, "junctor"), "./cmd/host")
	buildPlugins(t, bin)
	var members []string
	for _, m := range clientconfig.Members {
		members = append(members, m.Names...)
	}
	seed := rand.Uint64()
	s := entryMaker{rand.New(rand.NewPCG(seed, 0))}
	dir, entries := t.TempDir(), 100
	if os.Getenv("JUNCTOR_SOAK") != "" {
		entries = 400
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command(filepath.Join(bin, "junctor"), args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "JUNCTOR_HOME=" + filepath.Join(dir, "home"),
			"JUNCTOR_PLUGIN_DIR=" + filepath.Join(bin, "plugins"), "PATH=" + os.Getenv("PATH")}
		return cmd.Output()
	}
	for _, client := range []string{"mcpServers", "mcp"} {
		servers := map[string]any{}
		for i := range entries {
			entry := []map[string]any{{"command": "x"}, {"url": "https://h.example/mcp"}, {"command": s.of(oddTexts)},
				{"url": s.of(oddTexts)}}[s.IntN(4)]
			for range s.IntN(5) {
				if name := s.of(members); entry[name] == nil {
					entry[name] = s.value(3)
				}
			}
			servers[fmt.Sprintf("%s %d", s.of(oddNames), i)] = entry
		}
		text, err := json.Marshal(map[string]any{client: servers})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "x.json"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := run("import", "x.json")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "x.hcl"), blocks, 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := run("-c", "x.hcl", "validate"); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, found, blocks)
		}
	}
}
