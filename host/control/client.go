package control

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	maxAnswer    = 16 << 20 // bytes
	maxInstances = 64
	// statusTime is the time for a process to describe itself. It asks its plugins for
	// at most a second.
	statusTime = 3 * time.Second
)

// An Instance is a process with a control socket.
type Instance struct {
	// Name is the process id as text. StatusOfAll replaces it by a longer name if
	// several processes have that id, each in a container.
	Name   string
	long   string // the process id, a dot, and text that no other process has
	path   string
	client *http.Client
}

// Is reports whether a name is that of the process.
func (i *Instance) Is(name string) bool { return name == i.Name || name == i.long }

// Find returns the processes of this user that have a control socket, ordered by
// process id. The path of the runtime directory of a process begins with one of
// prefixes; process.Run() of the process and a dash follow.
func Find(prefixes []string) []*Instance {
	var found []*Instance
	for _, s := range sockets(prefixes) {
		if len(found) == maxInstances {
			break
		}
		found = append(found, &Instance{Name: strconv.Itoa(s.pid), long: s.name, path: s.path, client: clientOf(s.path)})
	}
	return found
}

// A socket is the control socket of a process.
type socket struct {
	pid  int
	run  string // process.Run() of the process
	name string // of the directory, without the prefix: run, a dash and more
	path string
}

// sockets returns the control sockets that belong to this user.
func sockets(prefixes []string) []socket {
	var all []socket
	for _, prefix := range prefixes {
		base, prefix := filepath.Split(prefix)
		entries, err := os.ReadDir(base)
		if err != nil {
			continue
		}
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name(), prefix)
			run, _, _ := strings.Cut(rest, "-")
			id, _, _ := strings.Cut(run, ".")
			pid, err := strconv.Atoi(id)
			dir := filepath.Join(base, e.Name())
			if !ok || err != nil || pid <= 0 || !e.IsDir() {
				continue
			}
			if _, err := os.Lstat(filepath.Join(dir, socketName)); err != nil {
				continue
			}
			if why, _ := ownership.Exposed(dir); why != "" {
				continue
			}
			all = append(all, socket{pid, run, rest, filepath.Join(dir, socketName)})
		}
	}
	slices.SortFunc(all, func(a, b socket) int { return cmp.Or(a.pid-b.pid, strings.Compare(a.path, b.path)) })
	return slices.Compact(all)
}

// processes returns the ids of the running processes with a control socket. It leaves out
// those in a container: their ids mean other processes here.
func processes(prefixes []string) (pids []int) {
	own := process.Run()
	for _, s := range sockets(prefixes) {
		if process.SameSpace(own, s.run) && !process.Gone(s.run) {
			pids = append(pids, s.pid)
		}
	}
	return pids
}

func clientOf(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}}
}

// Status asks a process for its status.
func (i *Instance) Status(ctx context.Context) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	return ask[Status](ctx, i, http.MethodGet, "/v1/status")
}

// Reload makes a process read its configuration again. The error is a *Refused if the
// configuration in effect stays.
func (i *Instance) Reload(ctx context.Context) (*Reloaded, error) {
	r, err := ask[Reloaded](ctx, i, http.MethodPost, "/v1/reload")
	if err != nil {
		return nil, err
	}
	r.Instance = i.Name
	return r, nil
}

// A Refused is the error of a request that changed nothing.
type Refused struct{ Failure }

func (r *Refused) Error() string { return r.Failure.Error.Message }

// Unwrap returns the fault of the process.
func (r *Refused) Unwrap() error { return r.Failure.Error.Fault() }

func ask[T any](ctx context.Context, i *Instance, method, path string) (*T, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://junctor"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := i.client.Do(req)
	if err != nil {
		return nil, i.unreachable(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, i.unreachable(err)
	}
	if resp.StatusCode == http.StatusOK {
		var v T
		if err := json.Unmarshal(body, &v); err != nil {
			return nil, i.unreachable(err)
		}
		return &v, nil
	}
	var failure Failure
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&failure); err != nil || failure.Error == nil {
		return nil, i.unreachable(fmt.Errorf("status %d", resp.StatusCode))
	}
	if failure.Error.Code == fault.ProcessRefused {
		failure.Error.Message = fmt.Sprintf("process %s refused a request: %s", i.Name, failure.Error.Message)
	}
	return nil, &Refused{failure}
}

func (i *Instance) unreachable(err error) error {
	message := fmt.Sprintf("process %s did not answer: %s", i.Name, err)
	if errors.Is(err, context.DeadlineExceeded) {
		message = fmt.Sprintf("process %s did not answer within %s", i.Name, statusTime)
	}
	return &fault.Error{Code: fault.ProcessUnreachable, Message: message, Err: err, Hint: "run `junctor status` again, or restart the process if it hangs"}
}

// An Answer is the status of a process that answered.
type Answer struct {
	*Instance
	Status *Status
}

// StatusOfAll asks all processes at the same time. It gives processes with the same id
// their long names. failed holds the errors of those that did not answer, except for
// processes that have ended.
func StatusOfAll(ctx context.Context, all []*Instance) (answered []Answer, failed []error) {
	statuses, errs := make([]*Status, len(all)), make([]error, len(all))
	var work sync.WaitGroup
	for n, i := range all {
		work.Go(func() { statuses[n], errs[n] = i.Status(ctx) })
	}
	work.Wait()
	for n, s := range statuses {
		switch err := errs[n]; {
		case err == nil:
			answered = append(answered, Answer{all[n], s})
		case !ended(err):
			failed = append(failed, err)
		}
	}
	nameApart(answered)
	return answered, failed
}

// nameApart gives processes with the same id their long names.
func nameApart(all []Answer) {
	count := map[string]int{}
	for _, a := range all {
		count[a.Name]++
	}
	for _, a := range all {
		if count[a.Name] > 1 {
			a.Name = a.long
		}
		a.Status.Instance = a.Name
	}
}

// ended reports whether an error says that no process of this user listens on a socket.
func ended(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ECONNREFUSED)
}
