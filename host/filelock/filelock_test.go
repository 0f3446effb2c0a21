package filelock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/filelock"
)

// childPath is set in a child process. It names the file that the child locks until
// it is killed.
const childPath = "FILELOCK_TEST_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if _, err := filelock.Lock(context.Background(), path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("locked")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

func lockWithin(t *testing.T, path string, limit time.Duration) (release func(), err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return filelock.Lock(ctx, path)
}

func TestLockExcludesOtherCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "lock")
	release, err := filelock.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockWithin(t, path, 60*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v, want the context's error", err)
	}
	time.AfterFunc(50*time.Millisecond, release)
	again, err := lockWithin(t, path, time.Minute)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	again()
}

func TestLockCreatesPrivateFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits have no meaning")
	}
	path := filepath.Join(t.TempDir(), "dir", "lock")
	release, err := filelock.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	release()
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info, err, want)
		}
	}
}

func TestLockFailsBelowAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Lock(t.Context(), filepath.Join(file, "lock")); err == nil || t.Context().Err() != nil {
		t.Errorf("locking a path below a file: %v", err)
	}
}

func TestLockEndsWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childPath+"="+path)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the child printed %q, %v", line, err)
	}
	if _, err := lockWithin(t, path, 60*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while the child holds the lock: %v, want the context's error", err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	release, err := lockWithin(t, path, time.Minute)
	if err != nil {
		t.Fatalf("after the child was killed: %v", err)
	}
	release()
}
