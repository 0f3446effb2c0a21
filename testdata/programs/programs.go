// Package programs builds the programs of this repository for tests. It keeps them in
// .cache/programs, so that a test binary links only those whose source has changed since
// another test binary, or an earlier run, built them.
package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/filelock"
)

// buildTime bounds a build, and the wait for that of another process.
const buildTime = 10 * time.Minute

// Build puts the programs of packages into a directory, each under the last element of
// its package, without .exe. The packages are relative to the root of the repository, as in "./plugins/http".
// The programs have no symbols and are built without the race detector. The caller may
// change them: they are copies. Processes may call Build at the same time. Build is for tests:
// it expects the working directory of a test, inside of the repository.
func Build(dir string, packages ...string) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	kept := filepath.Join(root, ".cache", "programs")
	if err := errors.Join(os.MkdirAll(kept, 0o755), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	release, err := filelock.Lock(ctx, filepath.Join(kept, "lock"))
	if err != nil {
		return err
	}
	defer release()
	args := []string{"build", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o"}
	args = append(args, kept+string(filepath.Separator))
	cmd := exec.CommandContext(ctx, "go", slices.Concat(args, packages)...)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %v: %w\n%s", packages, err, text)
	}
	for _, pkg := range packages {
		name, suffix := path.Base(pkg), ""
		if runtime.GOOS == "windows" {
			suffix = ".exe"
		}
		if err := copyProgram(filepath.Join(kept, name+suffix), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyProgram copies a program. Where there is cp(1), that reads it: "go test" runs a test
// again if a file that the test process itself has opened is new.
func copyProgram(from, to string) error {
	if cp, err := exec.LookPath("cp"); err == nil {
		if text, err := exec.Command(cp, from, to).CombinedOutput(); err != nil {
			return fmt.Errorf("copying %s: %w\n%s", from, err, text)
		}
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// findRoot returns the directory of go.work.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in the repository", dir)
		}
	}
}
