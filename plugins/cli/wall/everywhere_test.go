package wall

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// TestCrowdedDirectoriesAreLeftOut: a tool whose arguments are paths anywhere works on a
// machine where a file that it must not change is one of very many in its directory.
func TestCrowdedDirectoriesAreLeftOut(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is enforced here")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 16400 {
		if err := os.WriteFile(filepath.Join(root, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := New(Options{Program: "/bin/true", Command: []string{"/bin/true"}, Dir: t.TempDir(),
		Protected: []string{filepath.Join(root, "7")}})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := w.Call(Use{Writes: true, Anywhere: true, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	reaches := func(granted []string, path string) bool {
		return slices.ContainsFunc(granted, func(g string) bool { return g == path || sandbox.Within(path, g) })
	}
	if path := filepath.Join(root, "8"); reaches(rules.Data, path) || !reaches(rules.Read, path) {
		t.Errorf("%s can be changed, or not read", path)
	}
	if path := filepath.Join(filepath.Dir(root), "other"); len(rules.Data) < 10 || reaches(rules.Data, path) {
		t.Errorf("%d places can be changed", len(rules.Data))
	}
}
