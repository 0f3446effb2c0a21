package control

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/ownership"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// socketName is the name of a control socket in the runtime directory of its process.
const socketName = "control.sock"

// maxInstances bounds the processes that Find returns.
const maxInstances = 1000

// An Instance is a process with a control socket. It does not change after Find, but for Name.
// There is nothing to close.
type Instance struct {
	// Name is the process id as text. StatusOfAll replaces it by a longer name if
	// several processes have that id, each in a container.
	Name   string
	pid    int
	long   string // the process id, a dot, and text that no other process has
	path   string
	client *http.Client
	// guarded asks only a process that Junctor did not start; nil: client.
	guarded *http.Client
}

// trusted returns the instance for requests whose answers a person acts on.
func (i *Instance) trusted() *Instance {
	if i.guarded == nil {
		return i
	}
	one := *i
	one.client = i.guarded
	return &one
}

// Is reports whether a name is that of the process.
func (i *Instance) Is(name string) bool { return name == i.Name || name == i.long }

// Find returns the processes of this user that have a control socket, ordered by
// process id. The path of the runtime directory of a process begins with one of
// prefixes; process.Run() of the process and a dash follow. Verbs call it; it reads directories
// and connects to nothing.
func Find(prefixes []string) []*Instance {
	var found []*Instance
	for _, s := range sockets(prefixes) {
		if len(found) == maxInstances {
			break
		}
		found = append(found, &Instance{
			Name: strconv.Itoa(s.pid), pid: s.pid, long: s.name, path: s.path, client: clientOf(s.path, checkUser),
			guarded: clientOf(s.path, func(c net.Conn) error { return checkServer(c, processes(prefixes)) }),
		})
	}
	return found
}

// A runtimeDir is the runtime directory of a process.
type runtimeDir struct {
	pid  int
	run  string // process.Run() of the process
	name string // of the directory, without the prefix: run, a dash and more
	path string // of the control socket in it, if there is one
}

// runtimeDirs returns the runtime directories of this user.
func runtimeDirs(prefixes []string) []runtimeDir {
	var all []runtimeDir
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
			if ok && err == nil && pid > 0 && e.IsDir() && ownership.Private(dir) {
				all = append(all, runtimeDir{pid, run, rest, filepath.Join(dir, socketName)})
			}
		}
	}
	slices.SortFunc(all, func(a, b runtimeDir) int { return cmp.Or(a.pid-b.pid, strings.Compare(a.path, b.path)) })
	return slices.Compact(all)
}

// sockets returns the runtime directories with a control socket.
func sockets(prefixes []string) []runtimeDir {
	return slices.DeleteFunc(runtimeDirs(prefixes), func(d runtimeDir) bool {
		info, err := os.Lstat(d.path)
		return err != nil || info.Mode().Type() != os.ModeSocket
	})
}

// processes returns the ids of the running processes with a runtime directory, whether or
// not they have a control socket. It leaves out those in a container: their ids mean
// other processes here.
func processes(prefixes []string) (pids []int) {
	own := process.Run()
	for _, d := range runtimeDirs(prefixes) {
		if process.SameSpace(own, d.run) && !process.Gone(d.run) {
			pids = append(pids, d.pid)
		}
	}
	return slices.Compact(pids)
}

// clientOf returns a client of a socket. check returns why its server is not asked, or nil.
func clientOf(path string, check func(net.Conn) error) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
			if err != nil {
				return nil, err
			}
			if err := check(c); err != nil {
				_ = c.Close()
				return nil, err
			}
			return c, nil
		},
	}}
}
