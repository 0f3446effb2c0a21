package login

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The goroutine that starts programs lasts as long as the process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"))
}
