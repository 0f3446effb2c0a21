package login

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// What the first start of a program begins lasts as long as this one.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"))
}
