package interoptest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// testTimeout bounds every wait. Only a failure or a very busy machine takes as
// long.
const testTimeout = 30 * time.Second

// programs is the directory of the programs that TestMain builds.
var programs string

// sources are the packages of the programs by distinct names.
var sources = map[string]string{
	"junctor":                        "./cmd/host",
	"plugins/junctor-plugin-stdio":   "./plugins/stdio",
	"plugins/junctor-plugin-cli":     "./plugins/cli",
	"plugins/junctor-sandbox":        "./plugins/internal/launcher",
	"plugins/junctor-plugin-http":    "./plugins/http",
	"plugins/junctor-plugin-sse":     "./plugins/sse",
	"plugins/junctor-plugin-oauth":   "./plugins/oauth",
	"plugins/junctor-plugin-bearer":  "./plugins/bearer",
	"plugins/junctor-plugin-command": "./plugins/command",
	"plugins/junctor-plugin-evil":    "./testdata/evil/plugin",
	"conformance":                    "./testdata/conformance",
	"gosdk":                          "./testdata/interop/gosdk",
	"demo":                           "./testdata/demo",
	"odd":                            "./testdata/odd",
	"browser":                        "./testdata/interop/browser",
	// The test server of the Go SDK.
	"everything-server": "github.com/modelcontextprotocol/go-sdk/conformance/everything-server",
}

// repository is the root of the source tree.
var repository string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return broken(err)
	}
	repository = root
	if programs, err = os.MkdirTemp("", "interop-"); err != nil {
		return broken(err)
	}
	defer os.RemoveAll(programs)
	// The tests mostly wait for other processes. The flag -parallel takes
	// precedence, because go test's flags are parsed already.
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		return broken(err)
	}
	flag.Parse()
	prefetch()
	defer fetching.Wait()
	if err := build(); err != nil {
		return broken(err)
	}
	status := m.Run()
	fetching.Wait()
	fmt.Print(summary())
	if status == 0 {
		if err := goleak.Find(); err != nil {
			return broken(err)
		}
	}
	return status
}

func broken(err error) int {
	fmt.Fprintln(os.Stderr, "interoptest:", err)
	return 1
}

// build compiles all programs with one command, which plans once and links in
// parallel.
func build() error {
	built := filepath.Join(programs, "built")
	args := []string{"build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", built + string(filepath.Separator)}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", slices.Concat(args, slices.Collect(maps.Values(sources)))...)
	cmd.Dir = repository
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building what the tests run: %w\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(programs, "plugins"), 0o755); err != nil {
		return err
	}
	for name, source := range sources {
		made := filepath.Join(built, path.Base(source)) + filepath.Ext(program(name))
		if err := os.Rename(made, program(name)); err != nil {
			return err
		}
	}
	return nil
}

// program returns the path of a program that build made.
func program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(programs, filepath.FromSlash(name))
}
