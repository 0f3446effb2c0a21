package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// Dirs are the directories for Junctor's files. It is a value that does not change.
type Dirs struct {
	Cache cache.Dir // files that can be regenerated
	Data  string    // logs and state
	Run   string    // sockets of this process; private, removed by Clean
	// Runs are the prefixes that the path of Run can have. process.Run() and a dash
	// follow.
	Runs []string
}

const (
	socketNameLength = 50  // bytes that go-plugin adds to the path of the directory
	maxSocketPath    = 100 // bytes of a socket path that every system accepts
)

// FindDirs returns the directories below JUNCTOR_HOME if it is set, and otherwise
// those of the XDG variables. It creates the directory for sockets. It makes all
// paths absolute, because plugins run in other directories. It is called once, at the start of
// the program; Clean undoes what it creates. Package invocation calls it.
func FindDirs(lookup func(string) (string, bool)) (Dirs, error) {
	get := func(name string) string { v, _ := lookup(name); return v }
	home := get("HOME")
	if home == "" {
		home = get("USERPROFILE")
	}
	under := func(variable, junctorHome string, fallback ...string) string {
		switch base := get(variable); {
		case get("JUNCTOR_HOME") != "":
			return filepath.Join(get("JUNCTOR_HOME"), junctorHome)
		case filepath.IsAbs(base):
			return filepath.Join(base, "junctor")
		case home != "" && len(fallback) > 0:
			return filepath.Join(append([]string{home}, append(fallback, "junctor")...)...)
		}
		return ""
	}
	d := Dirs{
		Cache: cache.Dir(under("XDG_CACHE_HOME", "cache", ".cache")),
		Data:  under("XDG_DATA_HOME", "data", ".local", "share"),
	}
	run, temp := under("XDG_RUNTIME_DIR", "run"), os.TempDir()
	for _, dir := range []*string{(*string)(&d.Cache), &d.Data, &run, &temp} {
		if *dir == "" {
			continue
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return Dirs{}, fault.New(fault.Usage, "%s is relative to a directory that is gone: %s", *dir, err).
				WithHint("change to another directory, or set JUNCTOR_HOME and TMPDIR to absolute paths")
		}
		*dir = abs
	}
	var err error
	places := runPlaces(run, temp)
	for _, at := range places {
		d.Runs = append(d.Runs, at.dir+string(filepath.Separator)+at.prefix)
	}
	d.Run, err = makeRunDir(places)
	return d, err
}

// A runPlace is a directory that can hold directories for sockets, and the prefix of
// their names.
type runPlace struct{ dir, prefix string }

// runPlaces returns the places for the directories of sockets, the best one first.
func runPlaces(base, temp string) (places []runPlace) {
	for _, at := range []runPlace{{base, ""}, {temp, tempPrefix}, {"/tmp", tempPrefix}} {
		if at.dir != "" && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return places
}

// makeRunDir creates a private directory for the sockets of this process. It takes the
// first place that can be used and whose path is short enough for a socket.
func makeRunDir(places []runPlace) (string, error) {
	prefix := process.Run() + "-"
	var failed []string // what is wrong with each place
	for _, at := range places {
		if spare := maxSocketPath - len(at.dir) - len(at.prefix) - len(prefix) - socketNameLength; spare < 0 {
			failed = append(failed, fmt.Sprintf("%s: the path is %d bytes too long for a socket", at.dir, -spare))
			continue
		}
		if at.prefix == "" {
			if err := os.MkdirAll(at.dir, 0o700); err != nil {
				failed = append(failed, reasonOf(at.dir, err))
				continue
			}
		}
		if _, err := os.Stat(at.dir); err != nil {
			failed = append(failed, reasonOf(at.dir, err))
			continue
		}
		if why, command := ownership.Exposed(at.dir); why != "" {
			return "", fault.New(fault.Usage, "the directory for sockets is not used: %s %s", at.dir, why).
				WithHint("run `%s %s`, or name another with XDG_RUNTIME_DIR, TMPDIR or JUNCTOR_HOME", command, at.dir)
		}
		sweep(at.dir, at.prefix)
		dir, err := os.MkdirTemp(at.dir, at.prefix+prefix)
		if err == nil {
			return dir, nil
		}
		failed = append(failed, reasonOf(at.dir, err))
	}
	return "", fault.New(fault.Usage, "there is no directory for sockets: %s", strings.Join(failed, "; ")).
		WithHint(
			"make one of these directories writable, or set TMPDIR to one that is, with a path of at most %d bytes",
			maxSocketPath-socketNameLength-len(prefix)-len(tempPrefix),
		)
}

// reasonOf says why a directory cannot be used: because of an error about it, or about a path
// in it.
func reasonOf(dir string, err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		err = e.Err
	}
	return fmt.Sprintf("%s: %s", dir, err)
}

// tempPrefix is the prefix of Junctor's directories in a directory that other
// programs use too.
const tempPrefix = "junctor-"

// sweep removes the directories of processes that were killed.
func sweep(base, prefix string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || !e.IsDir() {
			continue
		}
		if run, _, ok := strings.Cut(rest, "-"); ok && process.Gone(run) {
			_ = os.RemoveAll(filepath.Join(base, e.Name()))
		}
	}
}

// Clean removes the directory for sockets.
func (d Dirs) Clean() { _ = os.RemoveAll(d.Run) }

// Logs returns the directory of the plugins' logs, or "" without a data directory.
func (d Dirs) Logs() string {
	if d.Data == "" {
		return ""
	}
	return filepath.Join(d.Data, "logs")
}
