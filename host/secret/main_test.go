package secret

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childFile is set in a process of this test that writes to the file it names,
// keys that begin with childName.
const (
	childFile = "SECRET_TEST_FILE"
	childName = "SECRET_TEST_NAME"
	childMost = "SECRET_TEST_MOST"
)

// realEffort is what everybody but these tests takes.
var realEffort int

// child writes one key after the other and prints each once it is stored.
func child(path, name, most string) error {
	f := OpenFile(FileOptions{Path: path, Password: saying("correct horse")})
	var n int
	if _, err := fmt.Sscan(most, &n); err != nil {
		return err
	}
	for i := range n {
		if err := f.SetSecret(context.Background(), fmt.Sprint(name, i), fmt.Append(nil, "value ", i), "label"); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

func TestMain(m *testing.M) {
	realEffort, effort = effort, 10
	if path := os.Getenv(childFile); path != "" {
		if err := child(path, os.Getenv(childName), os.Getenv(childMost)); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func saying(password string) func(context.Context, bool) ([]byte, error) {
	return func(context.Context, bool) ([]byte, error) { return []byte(password), nil }
}
