package sessionstore

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		fmt.Fprintln(os.Stderr, "child:", child(path, os.Getenv(childSession)))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
