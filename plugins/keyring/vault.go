package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/junctor-mcp/junctor/plugins/keyring/dbusguard"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// patience is the timeout of an operation, including the wait for other
// operations. The host kills this process after three seconds.
const patience = 2500 * time.Millisecond

// A vault runs its operations in workers, one at a time: turn is a semaphore. The host calls its methods
// concurrently. The other fields do not change.
type vault struct {
	backend, collection string
	bus                 string // address of the session bus in this program's environment
	patience            time.Duration
	turn                chan struct{}
}

func newVault(backend, collection string) *vault {
	return &vault{backend: backend, collection: collection, bus: dbusguard.Given(), patience: patience,
		turn: make(chan struct{}, 1)}
}

func (v *vault) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	a, err := v.order(ctx, order{Do: "get", Key: key})
	return a.Value, a.Found, err
}

func (v *vault) SetSecret(ctx context.Context, key string, value []byte, _ string) error {
	_, err := v.order(ctx, order{Do: "set", Key: key, Value: value})
	return err
}

func (v *vault) DeleteSecret(ctx context.Context, key string) error {
	_, err := v.order(ctx, order{Do: "delete", Key: key})
	return err
}

func (v *vault) Keys(ctx context.Context) ([]string, error) {
	a, err := v.order(ctx, order{Do: "keys"})
	return a.Keys, err
}

// order runs one operation in a worker.
func (v *vault) order(outer context.Context, o order) (answer, error) {
	o.Backend, o.Collection = v.backend, v.collection
	address, err := v.address()
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(outer, v.patience)
	defer cancel()
	var a answer
	select {
	case v.turn <- struct{}{}:
		a, err = employ(ctx, o, address)
		<-v.turn
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case outer.Err() != nil:
		return answer{}, outer.Err()
	case ctx.Err() != nil:
		return answer{}, v.mute()
	case err != nil:
		return answer{}, err
	case a.Wrong != nil:
		return answer{}, a.Wrong
	}
	return a, nil
}

func (v *vault) mute() error {
	return &sdk.Error{
		Code: sdk.Deadline, Reason: "mute", Message: fmt.Sprintf("%s did not answer within %s", v.backend, v.patience),
		Hint: "it may wait for a person: unlock it and try again; or choose another place: secret_store \"file\" {}",
	}
}

// address returns the address of the session bus, or dbusguard.Nowhere for a
// backend that needs none.
func (v *vault) address() (string, error) {
	if v.backend != "secret-service" && v.backend != "kwallet" {
		return dbusguard.Nowhere, nil
	}
	if v.bus != "" && v.bus != "autolaunch:" {
		return v.bus, nil
	}
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprint("/run/user/", os.Getuid())} {
		if info, err := os.Stat(dir + "/bus"); dir != "" && err == nil && info.Mode().Type() == os.ModeSocket {
			return "unix:path=" + dir + "/bus", nil
		}
	}
	return "", absent("a desktop session has one; elsewhere choose another place: secret_store \"file\" {}",
		"there is no session bus to reach %s", v.backend)
}

// employ starts a worker and returns its answer. It kills the worker when ctx
// is done.
func employ(ctx context.Context, o order, address string) (answer, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return answer{}, err
	}
	defer clear(text)
	self, err := program()
	if err != nil {
		return answer{}, err
	}
	in, toWorker, err := os.Pipe()
	if err != nil {
		return answer{}, err
	}
	defer toWorker.Close()
	fromWorker, out, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return answer{}, err
	}
	defer fromWorker.Close()
	p, err := process.Start(process.Command{
		Path: self, Args: []string{os.Args[0], dbusguard.Worker}, Env: dbusguard.Environ(address), Stdin: in,
		Stdout: out, Stderr: os.Stderr,
	})
	_, _ = in.Close(), out.Close()
	if err != nil {
		return answer{}, fmt.Errorf("starting a worker: %w", err)
	}
	defer func() { p.Kill(); <-p.Done() }()
	// Killing the worker closes both pipes, unless it cannot be killed. The
	// deadlines of the pipes come after that of ctx, so that the error of ctx
	// is reported.
	stop := context.AfterFunc(ctx, func() {
		p.Kill()
		now := time.Now()
		_, _ = toWorker.SetDeadline(now), fromWorker.SetDeadline(now)
	})
	defer stop()
	_, err = toWorker.Write(text)
	_ = toWorker.Close()
	if err == nil {
		return hear(fromWorker)
	}
	return answer{}, fmt.Errorf("sending an order to a worker: %w", err)
}

// hear reads the answer of a worker.
func hear(r io.Reader) (a answer, err error) {
	text, err := io.ReadAll(io.LimitReader(r, mostAnswer))
	defer clear(text)
	if err != nil {
		return answer{}, err
	}
	if json.Unmarshal(text, &a) != nil {
		return answer{}, errors.New("the worker ended without an answer; see its log")
	}
	return a, nil
}

// program returns a path that starts this program again. On Linux that works
// even if the file was replaced.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

var _ sdk.Vault = (*vault)(nil)
