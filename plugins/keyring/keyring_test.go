package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
	"github.com/junctor-mcp/junctor/plugins/keyring/dbusguard"
	"github.com/junctor-mcp/junctor/sdk"
)

// TestMain also runs the workers of the vaults in these tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == dbusguard.Worker {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestDocuments checks that CHANGELOG.md has the version and README.md every
// setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }

func TestSettings(t *testing.T) {
	store := plugin().SecretStores["keyring"]
	for text, path := range map[string]string{
		`{}`:                                  "",
		`{"backend":"pass"}`:                  "",
		`{"backend":"file"}`:                  "backend",
		`{"backend":"pass","collection":"x"}`: "collection",
	} {
		checkSettings(t, store, text, path)
	}
	if runtime.GOOS == "linux" {
		checkSettings(t, store, `{"backend":"keychain"}`, "backend")
		checkSettings(t, store, `{"backend":"kwallet","collection":"mine"}`, "")
	}
}

func checkSettings(t *testing.T, store sdk.SecretStore, text, path string) {
	t.Helper()
	err := store.Validate(t.Context(), []byte(text))
	if path == "" && err != nil || path != "" && (err == nil || !strings.HasPrefix(err.Error(), path+":")) {
		t.Errorf("%s: %v, want a complaint about %q", text, err, path)
	}
}

// TestWorkerRejectsInvalidOrders sends a worker orders that no vault sends.
func TestWorkerRejectsInvalidOrders(t *testing.T) {
	for _, text := range []string{"", "{", `{"Backend":"file","Do":"get"}`, `{"Backend":"","Do":"get"}`,
		`{"Backend":"secret-service","Collection":"login","Do":"get"}`} {
		var out strings.Builder
		err := work(strings.NewReader(text), &out)
		var a answer
		if err == nil && (json.Unmarshal([]byte(out.String()), &a) != nil || a.Wrong == nil) {
			t.Errorf("%q is answered with %s", text, out.String())
		}
	}
}

// TestOnlyKeyringImportsLibrary checks that no other program imports the
// library, because it dials a bus before main begins.
func TestOnlyKeyringImportsLibrary(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "../../cmd/host", "../http", "../stdio", "../../sdk/...")
	out, err := list.Output()
	if err != nil ||
		!strings.Contains(string(out), "junctor/host/secret") && !strings.Contains(string(out), "junctor/host\n") {
		t.Fatalf("%v: %.200s", err, out)
	}
	for _, library := range []string{"99designs", "godbus", "go-libsecret"} {
		if strings.Contains(string(out), library) {
			t.Errorf("another program imports %s", library)
		}
	}
}
