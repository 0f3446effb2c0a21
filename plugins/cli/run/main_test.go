package run

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/process"
)

// recordVariable makes the test binary print its arguments instead of testing.
const recordVariable = "JUNCTOR_TEST_RECORD"

func TestMain(m *testing.M) {
	if os.Getenv(recordVariable) != "" {
		if err := json.NewEncoder(os.Stdout).Encode(os.Args[1:]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := process.Adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(m.Run())
}
