package credential

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if isChild() {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}
