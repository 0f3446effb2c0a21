package httpserver

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
		os.Exit(status)
	}))
}
