package secret

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childFile is set in a child process of the tests. The child writes keys that begin
// with childName to that file.
const (
	childFile = "SECRET_TEST_FILE"
	childName = "SECRET_TEST_NAME"
	childMost = "SECRET_TEST_MOST"
)

// child writes keys one after the other and prints each number once it is stored.
func child(path, name, most string) error {
	f := OpenFile(FileOptions{Path: path, Password: fixedPassword("correct horse")})
	var n int
	if _, err := fmt.Sscan(most, &n); err != nil {
		return err
	}
	for i := range n {
		if err := f.SetSecret(context.Background(), fmt.Sprint(name, i), fmt.Append(nil, "value ", i),
			"label"); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		if err := child(path, os.Getenv(childName), os.Getenv(childMost)); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func fixedPassword(password string) func(context.Context, bool) ([]byte, error) {
	return func(context.Context, bool) ([]byte, error) { return []byte(password), nil }
}
