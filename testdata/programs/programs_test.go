package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestBuild checks that builds at the same time end with programs that run, and that a
// program which a test changed does not come back.
func TestBuild(t *testing.T) {
	dirs := []string{t.TempDir(), filepath.Join(t.TempDir(), "made")}
	build := func() {
		var all sync.WaitGroup
		for _, dir := range dirs {
			all.Go(func() {
				if err := Build(dir, "./testdata/odd", "./plugins/internal/launcher"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	build()
	odd := filepath.Join(dirs[0], "odd")
	if err := os.WriteFile(odd, []byte("changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	build()
	for _, dir := range dirs {
		if err := exec.Command(filepath.Join(dir, "odd")).Run(); err != nil {
			t.Error(err)
		}
	}
	if err := Build(dirs[0], "./nowhere"); err == nil {
		t.Error("a package that does not exist was built")
	}
}
