package credential

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// childVar is set in the child processes of the test, which have the same secrets. Each
// requests one credential at the same time as the test.
const childVar = "CREDENTIAL_TEST_DIR"

func isChild() bool { return os.Getenv(childVar) != "" }

func child() {
	b := newFileBroker(os.Getenv(childVar))
	defer b.Close()
	c, err := b.Authorize(context.Background(), request)
	fmt.Print(c.Headers["Authorization"], err)
}

// newFileBroker returns a broker whose provider stores its token in a file and needs
// 100 ms to write it.
func newFileBroker(dir string) *Broker {
	file := filepath.Join(dir, "token")
	p := &provider{authorize: func(int) (sdk.Credential, error) {
		if b, err := os.ReadFile(file); err == nil {
			return bearer(string(b), 0), nil
		}
		log, err := os.OpenFile(filepath.Join(dir, "refreshes"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return sdk.Credential{}, err
		}
		defer log.Close()
		_, _ = log.WriteString("x")
		time.Sleep(100 * time.Millisecond) // while other processes wait for the lock
		return bearer("stored", 0), os.WriteFile(file, []byte("stored"), 0o600)
	}}
	return New(Options{Server: "github", Auth: p, Lock: LockFile(filepath.Join(dir, "locks", "lock"))})
}

// TestProcessesRefreshOnce: processes that share their secrets refresh once.
func TestProcessesRefreshOnce(t *testing.T) {
	dir := t.TempDir()
	answers := make(chan string)
	for range 3 {
		go func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVar+"="+dir)
			out, err := cmd.Output()
			answers <- fmt.Sprint(string(out), err)
		}()
	}
	b := newFileBroker(dir)
	defer b.Close()
	c, err := b.Authorize(t.Context(), request)
	if err != nil || c.Headers["Authorization"] != "Bearer token-stored" {
		t.Errorf("%v, %v", c, err)
	}
	for range 3 {
		if got := <-answers; got != "Bearer token-stored<nil><nil>" {
			t.Errorf("another process got %q", got)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "refreshes")); err != nil || string(b) != "x" {
		t.Errorf("%q refreshes, %v", b, err)
	}
}

// TestBrokerWithoutLock: the broker goes on without a lock that cannot be taken. It fails
// if another process holds the lock.
func TestBrokerWithoutLock(t *testing.T) {
	p := &provider{authorize: func(n int) (sdk.Credential, error) { return bearer(n, time.Second), nil }}
	b := broker(t,
		Options{Auth: p, Lock: func(context.Context) (func(), error) { return nil, errors.New("read only") }})
	for range 2 {
		if _, err := b.Authorize(t.Context(), request); err != nil {
			t.Error(err)
		}
	}
	b = broker(t, Options{Auth: p, Timeout: time.Millisecond, Lock: func(ctx context.Context) (func(), error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if _, err := b.Authorize(t.Context(), request); sdk.CodeOf(err) != sdk.Deadline ||
		!strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	if res, err := b.Challenge(t.Context(), sdk.Challenge{AuthRequest: request, Status: 401, Attempt: 1}); err == nil {
		t.Errorf("%+v", res)
	}
}
