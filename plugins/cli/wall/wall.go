// Package wall decides what a wrapped program may reach: the system, its own
// files and settings, its working directory, and what the configuration adds.
// Package sandbox enforces that.
//
// A tool that reads gets the working directory read-only. Every run may write in a
// temporary directory of its own.
//
// wall.go makes rules, refusal.go explains what they refused, link.go follows links, the files
// whose names begin with alias find other names of files that are shut, and temp.go makes and
// removes temporary directories. Package main makes a [Wall] for each program when a server is
// opened, and asks it for rules before each run.
package wall

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Settings are the block sandbox of the transport.
type Settings struct {
	Read        []string        `hcl:"read,optional" doc:"Files and directories outside cwd that the program may read. \"~\" is the home directory; a relative path is relative to the configuration file's directory."`
	Write       []string        `hcl:"write,optional" doc:"Files and directories outside cwd that the program may also change, by tools that write."`
	Network     json.RawMessage `hcl:"network,optional" doc:"Whether the program may open internet sockets: false, true, or a list of TCP ports such as [443]. Port 53 also allows UDP, for names. By default false."`
	UnixSockets bool            `hcl:"unix_sockets" doc:"Whether the program may open unix sockets, such as those of Docker, D-Bus and ssh-agent." default:"false"`
}

// Check returns the errors of the settings. A nil *Settings has none.
func (s *Settings) Check() []error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, list := range []struct {
		name  string
		paths []string
	}{{"read", s.Read}, {"write", s.Write}} {
		for i, path := range list.paths {
			if path == "" || strings.ContainsRune(path, 0) ||
				strings.HasPrefix(path, "~") && path != "~" && !strings.HasPrefix(path, "~/") {
				errs = append(errs, sdk.AttrErrorf(fmt.Sprintf("sandbox.%s[%d]", list.name, i), "is not a path"))
			}
		}
	}
	if _, err := sandbox.ParseNetwork(s.Network); err != nil {
		errs = append(errs, sdk.AttrErrorf("sandbox.network", "%v", err))
	}
	return errs
}

// Options describe a wrapped program.
type Options struct {
	Program string   // the executable
	Command []string // the program and its fixed arguments
	Dir     string   // the working directory
	PathVar string   // the variable PATH of the program
	// ConfigDir is the directory of the configuration file, for relative paths.
	ConfigDir  string
	Private    []string  // files that no tool may reach; see sdk.Server
	Protected  []string  // files that no tool may change; see sdk.Server
	Changeable []string  // directories that tools of other programs may change; see sdk.Server
	Caches     string    // the name of the directory for the caches of this server's program
	Settings   *Settings // nil if there is no block
}

// A Wall makes the rules for the runs of one program. Its methods may be called
// concurrently.
type Wall struct {
	o       Options
	network sandbox.Network
	program []string      // what the program needs to start
	read    []string      // granted by the table and the block
	write   []string      // granted to tools that write
	data    []string      // the same, where they make no links
	made    []string      // directories to make before a tool that writes runs
	caches  []string      // directories to make before any tool runs
	env     []string      // the variables that name these, as NAME=PATH
	dir     sandbox.Grant // the working directory, as it was at the start
	hidden  []string      // files that no tool may reach, also under their names without links
	own     []string      // these, and the files that no tool may change
	private []string      // other names in the working directory of credentials and private files
	lists   bool          // the working directory may be listed, although it has hidden files
}

// private returns what a directory is granted without: private files, the home
// directories of others, and what is about other processes.
func private() []string {
	all := append(sandbox.Private(), "/proc", "/run/user")
	own := sandbox.OwnHomes()
	for _, home := range sandbox.Homes() {
		all = append(all, sandbox.HiddenIn(home)...)
		if !slices.ContainsFunc(own, func(o string) bool { return o == home || sandbox.Within(o, home) }) {
			all = append(all, home)
		}
	}
	return all
}

// New returns a Wall. It fails if the block names missing paths, if the working
// directory is private and the block does not name it, or if a block is there and
// this kernel cannot enforce it.
func New(o Options) (*Wall, error) {
	protected := o.Protected
	if program, err := os.Executable(); err == nil {
		beside, _ := filepath.Glob(filepath.Join(filepath.Dir(program), "junctor-*")) // other plugins and the launcher
		protected = slices.Concat(protected, []string{program}, beside)
	}
	w := &Wall{o: o, hidden: withReal(o.Private)}
	w.own = slices.Concat(w.hidden, withReal(protected), linksIn(o.Private), linksIn(protected))
	var err error
	if w.o.Dir, err = w.follow(o.Dir); err != nil {
		e := sdk.AttrErrorf("cwd", "%s cannot be granted: %v", o.Dir, err)
		e.Code = sdk.Unavailable
		return nil, e
	}
	if err := w.addAliases(); err != nil {
		e := sdk.AttrErrorf("cwd", "cannot be granted to the program: %v", err)
		e.Code, e.Hint = sdk.Unavailable, "choose a directory below it, or remove the other names of the file"
		return nil, e
	}
	if o.Settings != nil {
		w.network, _ = sandbox.ParseNetwork(o.Settings.Network) // Check has parsed it
		if err := w.addBlock(o.Settings); err != nil {
			return nil, err
		}
		if missing := sandbox.Probe().Missing(&sandbox.Rules{Network: w.network}); missing != "" {
			return nil, &sdk.Error{
				Code: sdk.Unavailable, Reason: "sandbox_unsupported", Path: "sandbox",
				Message: (&sandbox.UnsupportedError{Missing: missing}).Error(),
				Hint:    "use a newer kernel, or remove the block: then the text rules for arguments are the only rules here",
			}
		}
	}
	w.addNeeds()
	if w.dir, err = w.cwd(reading); err != nil {
		return nil, err
	}
	g, err := w.cwd(listing)
	w.lists = err == nil && len(g.Without) == 0 && len(w.dir.Without) > 0
	w.program = sandbox.Program(sandbox.Start{
		Executable: o.Program, Command: o.Command, Dir: o.Dir, Path: o.PathVar,
		Writable: slices.Concat(w.dir.Paths, w.write, w.data), Private: belonging(w.hidden, "/"),
	})
	return w, nil
}

// addAliases adds other names that private files, and those of Junctor, have in the working
// directory.
func (w *Wall) addAliases() error {
	hidden, err := aliases(w.hidden, w.o.Dir)
	own, err2 := aliases(w.own, w.o.Dir)
	private, err3 := aliases(sandbox.Private(), w.o.Dir)
	w.hidden, w.own, w.private = append(w.hidden, hidden...), append(w.own, own...), private
	return errors.Join(err, err2, err3)
}

// addBlock adds the paths of the block.
func (w *Wall) addBlock(s *Settings) error {
	for _, list := range []struct {
		name  string
		paths []string
		to    *[]string
	}{{"read", s.Read, &w.read}, {"write", s.Write, &w.write}} {
		for i, path := range list.paths {
			at := sandbox.Expand(path, w.o.ConfigDir)
			granted, err := w.named(at)
			if err != nil {
				if pe, ok := errors.AsType[*fs.PathError](err); ok {
					err = pe.Err
				}
				e := sdk.AttrErrorf(fmt.Sprintf("sandbox.%s[%d]", list.name, i), "%s cannot be granted: %v", at, err)
				if e.Code = sdk.Unavailable; errors.Is(err, fs.ErrNotExist) {
					e.Hint = "create it, or remove it from the list"
				}
				return e
			}
			*list.to = append(*list.to, granted...)
		}
	}
	return nil
}

// named returns the grant for a path that the configuration names. It has what is
// private only if the path itself is private.
func (w *Wall) named(path string) ([]string, error) {
	real, err := w.follow(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(real); err != nil {
		return nil, err
	}
	if strings.HasPrefix(real, "/proc/") && strings.Trim(strings.Split(real, "/")[2], "0123456789") == "" {
		return nil, errors.New("it is about one process; every program has its own /proc/self")
	}
	g, err := around(real, private())
	if _, is := errors.AsType[*sandbox.ForbiddenError](err); is { // hidden, or private itself
		g, err = around(real, sandbox.Private())
	}
	if _, is := errors.AsType[*sandbox.ForbiddenError](err); is {
		return []string{real}, nil
	}
	return g.Paths, err
}

// addNeeds adds what the table of sandbox has for the program.
func (w *Wall) addNeeds() {
	for _, need := range sandbox.Needs(w.o.Command) {
		for i, item := range need.Paths {
			path, err := w.needed(sandbox.Expand(strings.Replace(item, sandbox.ServerPart, w.o.Caches, 1), "/"))
			if err != nil {
				continue
			}
			if need.Kind == sandbox.CacheNeed {
				w.write, w.caches, w.env = append(w.write, path), append(w.caches, path), append(w.env,
					need.Variables[i]+"="+path)
				continue
			}
			if need.Kind == sandbox.WriteNeed {
				w.data = append(w.data, path)
				if strings.HasSuffix(item, "/") {
					w.made = append(w.made, path)
				}
				continue
			}
			w.read = append(w.read, path)
		}
	}
}

// Environment returns the variables that name the caches of the program, as NAME=VALUE.
func (w *Wall) Environment() []string { return slices.Clone(w.env) }

// needed returns a path of the table without symbolic links, which people use to keep
// their settings in a repository. A link to private files is not followed.
func (w *Wall) needed(path string) (string, error) {
	real, err := w.follow(path)
	private := func(path string) bool {
		return slices.ContainsFunc(sandbox.Private(),
			func(p string) bool { return path == p || sandbox.Within(path, p) })
	}
	if private(real) && !private(path) {
		return path, err
	}
	return real, err
}

// An access is what the working directory is granted for.
type access int

const (
	reading access = iota
	changing
	listing // also what Junctor alone reads
)

// cwd returns the grant for the working directory. A directory that holds private
// files is granted without them. It fails if the directory itself is private,
// unless the block names it. A directory of Junctor itself is not granted at all.
func (w *Wall) cwd(how access) (sandbox.Grant, error) {
	forbidden := sandbox.Private()
	if slices.ContainsFunc(sandbox.Homes(),
		func(home string) bool { return w.o.Dir == "/" || w.o.Dir == home || sandbox.Within(home, w.o.Dir) }) {
		forbidden = private()
	}
	forbidden = slices.Concat(forbidden, sandbox.PrivateIn(w.o.Dir), w.private)
	switch {
	case how == changing && !covers(w.write, w.o.Dir):
		forbidden = append(forbidden, belonging(w.own, w.o.Dir)...)
	case how == reading && !covers(slices.Concat(w.read, w.write, w.data), w.o.Dir):
		forbidden = append(forbidden, belonging(w.hidden, w.o.Dir)...)
	}
	g, err := around(w.o.Dir, forbidden)
	inside, is := errors.AsType[*sandbox.ForbiddenError](err)
	switch {
	case err == nil:
		return g, nil
	case is && covers(slices.Concat(w.read, w.write, w.data), w.o.Dir):
		return sandbox.Grant{}, nil
	case is && isOwn(inside.Forbidden):
		return sandbox.Grant{}, nil
	}
	e := sdk.AttrErrorf("cwd", "cannot be granted to the program: %v", err)
	e.Code, e.Hint = sdk.Unavailable, "choose a directory below it, or name it in read or write of a sandbox block"
	return sandbox.Grant{}, e
}

// withReal adds the names without links to paths.
func withReal(paths []string) []string {
	all := slices.Clone(paths)
	for _, path := range paths {
		if real := sandbox.Resolve(path); real != path {
			all = append(all, real)
		}
	}
	return all
}

// linksIn returns the links that paths lead through. Who changes one changes the file.
func linksIn(paths []string) []string {
	var all []string
	for _, path := range paths {
		_, links, _ := sandbox.Walk(path)
		all = append(all, links...)
	}
	return all
}

// belonging returns the files below a directory, whether they exist or not, with those that
// belong to them, such as a copy, the journal or an archive.
func belonging(files []string, below string) []string {
	all := slices.DeleteFunc(slices.Clone(files), func(path string) bool { return !sandbox.Within(path, below) })
	names := map[string][]string{} // by directory
	for _, path := range all {
		names[filepath.Dir(path)] = append(names[filepath.Dir(path)], filepath.Base(path))
	}
	for dir, names := range names {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if slices.ContainsFunc(names, func(name string) bool { return belongsTo(e.Name(), name) }) {
				all = append(all, filepath.Join(dir, e.Name()))
			}
		}
	}
	return all
}

// belongsTo reports whether a file's name is that of another file with an ending.
func belongsTo(name, other string) bool {
	rest, ok := strings.CutPrefix(name, other)
	return ok && rest != "" && strings.ContainsAny(rest[:1], ".-~")
}

// covers reports whether one of the granted paths is path or above it.
func covers(granted []string, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil &&
		slices.ContainsFunc(granted, func(p string) bool { return p == real || sandbox.Within(real, p) })
}

// isOwn reports whether a path is one of Junctor itself.
func isOwn(path string) bool {
	if home := sandbox.Home(); home != "" && filepath.Base(path) == "junctor" && sandbox.Within(path, home) {
		return true
	}
	return slices.ContainsFunc(sandbox.Own(), func(own string) bool {
		real, err := filepath.EvalSymlinks(own)
		return path == own || err == nil && path == real
	})
}

// A Use is what one run of a tool may do.
type Use struct {
	Writes bool
	// Anywhere is set for a tool whose arguments may be paths outside the working
	// directory. It reaches every directory except those with private files, and changes
	// none of the system.
	Anywhere bool
	Temp     string // the temporary directory of the run
}

// Call returns the rules for one run of a tool.
func (w *Wall) Call(use Use) (*sandbox.Rules, error) {
	cwd, far, err := w.reach(use, reading)
	if err != nil {
		return nil, err
	}
	for _, dir := range w.caches {
		_ = os.MkdirAll(dir, 0o700) // as below
	}
	r := w.rules()
	r.Write = append(r.Write, use.Temp)
	if w.lists && !use.Anywhere {
		r.List = []string{w.o.Dir}
	}
	r.Attributes = use.Writes
	if !use.Writes {
		r.Read = slices.Concat(r.Read, cwd, far, w.write, w.data)
		return r, nil
	}
	changed, changedFar, err := w.reach(use, changing)
	if err != nil {
		return nil, err
	}
	for _, dir := range w.made {
		_ = os.MkdirAll(dir, 0o700) // without it the program reports that it cannot write there
	}
	r.Read = slices.Concat(r.Read, cwd, far)
	r.Write = slices.Concat(r.Write, changed, w.write)
	r.Data = slices.Concat(w.data, changedFar)
	return r, nil
}

// reach returns what a run reaches of the working directory, and of all others if its
// arguments may be paths anywhere. Files come and go, so it looks each time.
func (w *Wall) reach(use Use, how access) (near, far []string, err error) {
	cwd, err := w.cwd(how)
	if !use.Anywhere {
		return cwd.Paths, nil, err
	}
	forbidden := append(private(), belonging(w.hidden, "/")...)
	if how == changing {
		forbidden = slices.Concat(private(), sandbox.Unchanged(w.o.PathVar), belonging(w.own, "/"))
	}
	all, err := everywhere(forbidden)
	return cwd.Paths, all.Paths, err
}

// everywhere returns the grant for all directories without the forbidden paths. One
// with too many entries to grant one by one is left out.
func everywhere(forbidden []string) (sandbox.Grant, error) {
	for {
		g, err := sandbox.Around("/", forbidden)
		crowded, is := errors.AsType[*sandbox.TooManyError](err)
		if !is || crowded.Dir == "/" {
			return g, err
		}
		forbidden = append(forbidden, crowded.Dir)
	}
}

// Probe returns the rules for asking the program for its help. work is a directory
// that it may change; dir, if not empty, is the directory of its fixed arguments.
func (w *Wall) Probe(work, dir string) *sandbox.Rules {
	r := w.rules()
	r.Network, r.UnixSockets = sandbox.Network{}, false
	r.Read = slices.Concat(r.Read, w.dir.Paths, w.write, w.data)
	r.Write = append(r.Write, work)
	if g, err := sandbox.Around(dir, append(private(), belonging(w.hidden, "/")...)); dir != "" && err == nil {
		r.Read = append(r.Read, g.Paths...)
	}
	return r
}

// rules returns what every run may reach.
func (w *Wall) rules() *sandbox.Rules {
	r := &sandbox.Rules{
		Read: slices.Concat(sandbox.System(), w.program, w.read), Devices: sandbox.Devices,
		Network: w.network, Required: w.o.Settings != nil,
	}
	if w.o.Settings != nil {
		r.UnixSockets = w.o.Settings.UnixSockets
	}
	if !w.network.Off() {
		r.Read = append(r.Read, sandbox.Resolver()...)
	}
	return r
}
