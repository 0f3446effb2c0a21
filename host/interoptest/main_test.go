package interoptest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long anything that is awaited may take. Nothing takes as
// long unless it is broken, or the machine very busy.
const patience = 30 * time.Second

// programs is where TestMain builds what the tests run.
var programs string

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
	if err := build(); err != nil {
		return broken(err)
	}
	// The tests mostly wait for others. Who gives -parallel is heard: go test's
	// own flags are read later.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		return broken(err)
	}
	status := m.Run()
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

// build compiles what the tests run.
func build() error {
	for name, source := range map[string]string{
		"junctor":                      "./cmd/host",
		"plugins/junctor-plugin-stdio": "./plugins/stdio",
		"plugins/junctor-plugin-http":  "./plugins/http",
		"plugins/junctor-plugin-sse":   "./plugins/sse",
		"conformance":                  "./testdata/conformance",
		"gosdk":                        "./testdata/interop/gosdk",
		"demo":                         "./testdata/demo",
		// What the Go SDK itself is tested with.
		"everything-server": "github.com/modelcontextprotocol/go-sdk/conformance/everything-server",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, "go", "build", "-tags", "grpcnotrace", "-o", program(name), source)
		cmd.Dir = repository
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			return fmt.Errorf("building %s: %w\n%s", source, err, out)
		}
	}
	return nil
}

// program is the path of something that build made.
func program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(programs, filepath.FromSlash(name))
}
