package wall

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

const (
	maxRefusals = 3        // in one explanation
	maxExamined = 64 << 10 // bytes of output that are read for refusals
)

var (
	refused = regexp.MustCompile(`(?i)permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|\berrno 13\b|\berrno 1\b|access denied|not permitted|cannot (?:open|create|read|write|access|stat)|unable to (?:open|create|read|write|access)|could not (?:open|create|read|write|lock)|failed to (?:open|create|read|write)|read-only`)
	// quoted and bare match what may be a path in a message.
	quoted = regexp.MustCompile("[\"'`‘“]([^\"'`’”\n]+)[\"'`’”]")
	bare   = regexp.MustCompile(`(?:^|[\s:=(\[])((?:~|\.{1,2})?/[^\s:'"\])]+|[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.@+-]+)*)`)

	// fileName matches the name of a file with an ending, and no number.
	fileName = regexp.MustCompile(`^[^\s/]*[^\s/0-9.][^\s/]*\.[A-Za-z][A-Za-z0-9]{0,7}$`)

	// removes finds the errors about an entry of a directory, which needs a right in that directory.
	removes = regexp.MustCompile(`(?i)unlink|remov|renam|mov(?:e|ing)|delet|replac|overwrit`)

	offline = regexp.MustCompile(`(?i)could ?n[o']t resolve|could not resolve|name resolution|no such host|network is unreachable|\bENOTFOUND\b|\bEAI_AGAIN\b|getaddrinfo|dial tcp|dial udp|lookup \S+|connection refused|failed to connect|unable to connect|can(?:not|'t) connect|couldn't connect|unable to access '?https?:|socket: |socket\(\)|unknown host|no route to host|servname|network error|max retries exceeded|resolve host|urlopen error|in create_connection|EACCES \d+(?:\.\d+){3}:\d+`)
	// missingModule finds the errors of interpreters that found no file of a program.
	missingModule = regexp.MustCompile(`ModuleNotFoundError|ImportError|Cannot find module|cannot load such file|Can't locate \S+ in @INC|module '\S+' not found`)
	sharedMemory  = regexp.MustCompile(`\bSemLock\b|\b(?:sem|shm)_open\b`)
	terminal      = regexp.MustCompile(`^/dev/(?:tty[^/]*|console|pts/[0-9]+)$`)
	local         = regexp.MustCompile(
		`(?i)dial unix|unix:/|docker daemon|/\S+\.sock\b|d-?bus|system bus|session bus|\bagent\b|ssh_auth_sock|AF_UNIX`,
	)
)

// A Refusal is an access of a run that the wall may have refused.
type Refusal struct {
	// The kind of access: read, change, network, unix_sockets or terminal.
	What   string `json:"what"`
	Path   string `json:"path,omitempty"` // of what the run could not read or change
	Reason string `json:"reason"`         // what the wall refuses and what allows it, in a sentence
	// Allow has the elements of the block sandbox that allow the access. It is empty if no such
	// element does, or if the program should work in another way.
	Allow map[string]any `json:"allow,omitempty"`
}

// The kinds of access.
const (
	refusedRead     = "read"
	refusedChange   = "change"
	refusedNetwork  = "network"
	refusedSockets  = "unix_sockets"
	refusedTerminal = "terminal"
)

// Explain returns the accesses of a run that the wall may have refused. output is what the
// program printed about errors; arguments are those of the call.
func (w *Wall) Explain(r *sandbox.Rules, output string, arguments []string) []Refusal {
	if r == nil || sandbox.Probe() == (sandbox.Support{}) {
		return nil
	}
	if len(output) > maxExamined {
		output = output[len(output)-maxExamined:]
	}
	var said []Refusal
	for _, path := range w.refusedPaths(r, output, arguments) {
		said = append(said, w.aboutPath(r, path))
	}
	if r.Network.Off() && offline.MatchString(output) {
		said = append(said, Refusal{What: refusedNetwork, Allow: map[string]any{"network": true},
			Reason: "the sandbox refuses the network: add `sandbox { network = true }`, or the ports that it needs, such as [53, 443], to the transport block"})
	}
	if ports := r.Network.Ports; !r.Network.All && len(ports) > 0 && offline.MatchString(output) {
		said = append(said, Refusal{What: refusedNetwork,
			Reason: "the sandbox allows " + r.Network.String() + " and no other: add the port to `network` in the sandbox block, or 53 for names that are looked up over UDP"})
	}
	if missingModule.MatchString(output) {
		if dir := w.besideProgram(r); dir != "" {
			said = append(said, Refusal{What: refusedRead, Path: dir, Allow: paths("read", dir),
				Reason: fmt.Sprintf("the sandbox lets the program read its own file, not what lies beside it: add `sandbox { read = [%q] }` to the transport block if it loads files from there",
					dir)})
		}
	}
	if sharedMemory.MatchString(output) && w.refuses(r, shm) {
		said = append(said, Refusal{What: refusedChange, Path: shm, Allow: paths("write", shm),
			Reason: fmt.Sprintf("the sandbox refuses shared memory, which parallel processes use: let the program work with one process, or add `sandbox { write = [%q] }` to the transport block",
				shm)})
	}
	if !r.UnixSockets && local.MatchString(output) {
		said = append(said, Refusal{What: refusedSockets, Allow: map[string]any{"unix_sockets": true},
			Reason: "the sandbox refuses unix sockets, such as those of Docker, D-Bus and ssh-agent: add `sandbox { unix_sockets = true }` to the transport block"})
	}
	return said
}

// shm is the directory of POSIX shared memory, which all programs of the user share.
const shm = "/dev/shm"

// paths returns an element of the block sandbox that allows one path.
func paths(element, path string) map[string]any { return map[string]any{element: []string{path}} }

// besideProgram returns the directory of the program, or of a script among the fixed
// arguments, that the program may not read, or "".
func (w *Wall) besideProgram(r *sandbox.Rules) string {
	for _, word := range append([]string{w.o.Program}, w.o.Command[min(1, len(w.o.Command)):]...) {
		if !filepath.IsAbs(word) {
			word = filepath.Join(w.o.Dir, word)
		}
		real, err := filepath.EvalSymlinks(word)
		if err != nil {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() && w.refuses(r, filepath.Dir(real)) {
			return filepath.Dir(real)
		}
	}
	return ""
}

// aboutPath explains the refusal of one path.
func (w *Wall) aboutPath(r *sandbox.Rules, path string) Refusal {
	if terminal.MatchString(path) { // no setting gives a run a terminal
		return Refusal{What: refusedTerminal,
			Reason: fmt.Sprintf("the program asks at a terminal (%s), and a run has none: use an option that answers the question, such as --yes, or that reads the answer from a file",
				path)}
	}
	no := Refusal{What: refusedChange, Path: path}
	allowed := func(list []string) bool { return holds(list, path) }
	inside := path == w.o.Dir || sandbox.Within(path, w.o.Dir)
	_, err := os.Lstat(path)
	switch {
	case !r.Attributes && (allowed(r.Read) || inside && !slices.Contains(w.dir.Without, path)):
		no.Reason = fmt.Sprintf("the sandbox refuses to change %s: this tool counts as reading; if it writes, name its command in `write = [...]` of the transport block, or set `access = \"write\"` in its tool block",
			path)
	case allowed(r.Read) && !inside && existing(path) == path:
		no.Allow = paths("write", path)
		no.Reason = fmt.Sprintf(
			"the sandbox refuses to change %s: add it to `sandbox { write = [%q] }` in the transport block", path, path,
		)
	case inside && holds(belonging(w.hidden, w.o.Dir), path):
		no.What = refusedRead
		no.Reason = fmt.Sprintf("the sandbox refuses %s: only Junctor uses this file; `sandbox { read = [%q] }` in the transport block lets the program read it",
			path, path)
	case inside && holds(belonging(w.own, w.o.Dir), path):
		no.Reason = fmt.Sprintf("the sandbox refuses to change %s: Junctor uses this file, or a server that Junctor starts; `sandbox { write = [%q] }` in the transport block lets the program change it, and with it what runs outside of the sandbox",
			path, existing(path))
	case inside && len(w.withheld()) > 0:
		no.Reason = fmt.Sprintf("the sandbox refuses %s: cwd %s %s, so its other entries are granted one by one and no new ones can be created in it, nor any removed or renamed; set cwd to a directory below it%s",
			path, verb(w.withheld()), strings.Join(first(w.withheld()), ", "), w.aboutOwnFiles())
	case err != nil && w.wide(filepath.Dir(path)):
		no.Reason = fmt.Sprintf("the sandbox refuses to create %s: name a directory for it in `sandbox { write = [...] }` of the transport block, not %s as a whole",
			path, filepath.Dir(path))
	case err != nil:
		no.Allow = paths("write", filepath.Dir(path))
		no.Reason = fmt.Sprintf(
			"the sandbox refuses to create %s: add `sandbox { write = [%q] }` to the transport block",
			path, filepath.Dir(path),
		)
	case w.wide(path):
		no.What = refusedRead
		no.Reason = fmt.Sprintf("the sandbox refuses %s: name what the program needs of it in `sandbox { read = [...] }` of the transport block, or set HOME in env to a directory below cwd",
			path)
	default:
		no.What, no.Allow = refusedRead, paths("read", path)
		no.Reason = fmt.Sprintf("the sandbox refuses %s: add `sandbox { read = [%q] }` to the transport block, or write if the program must change it",
			path, path)
	}
	return no
}

// wide reports whether a directory is too much to be proposed: the home directory, one of
// its settings of all programs, or one that holds them.
func (w *Wall) wide(path string) bool {
	for _, dir := range []string{"~", "~/.config", "~/.local", "~/.local/share", "~/.cache"} {
		if dir = sandbox.Expand(dir, w.o.Dir); path == dir || sandbox.Within(dir, path) {
			return true
		}
	}
	return false
}

// holds reports whether a path is one of a list, or lies in one.
func holds(list []string, path string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return p == path || sandbox.Within(path, p) })
}

// verb says how a directory relates to the first of the paths that are withheld in it.
func verb(withheld []string) string {
	for _, path := range withheld[:min(maxRefusals, len(withheld))] {
		if _, err := os.Lstat(path); err == nil {
			return "holds"
		}
	}
	return "is the place of"
}

// existing returns the path, or the directory of one that does not exist.
func existing(path string) string {
	if _, err := os.Lstat(path); err != nil {
		return filepath.Dir(path)
	}
	return path
}

// withheld returns what in the working directory no tool can change.
func (w *Wall) withheld() []string {
	g, _ := w.cwd(changing)
	return g.Without
}

// aboutOwnFiles says what else helps if only Junctor's own files are in the working directory.
func (w *Wall) aboutOwnFiles() string {
	if own := belonging(w.own, w.o.Dir); slices.ContainsFunc(w.withheld(),
		func(path string) bool { return !slices.Contains(own, path) }) {
		return ""
	}
	return fmt.Sprintf(", keep the configuration in another one, or add `sandbox { write = [%q] }` to the transport block, which also lets the program change what Junctor runs",
		w.o.Dir)
}

// first shortens a list.
func first(list []string) []string {
	if len(list) > maxRefusals {
		return append(slices.Clone(list[:maxRefusals]), "and others")
	}
	return list
}

// refusedPaths returns the paths in the lines about refusals that exist or could
// be created, and that the rules do not allow to read or to change.
func (w *Wall) refusedPaths(r *sandbox.Rules, output string, arguments []string) []string {
	var found []string
	consider := func(line, text string, certain bool) {
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return
		}
		path := sandbox.Expand(strings.TrimRight(text, ".,;"), w.o.Dir)
		if _, err := os.Lstat(path); err != nil && !certain {
			return // a word of the message
		}
		refuses := w.refuses(r, path) ||
			removes.MatchString(line) && holds(r.Write, path) && !holds(r.Write, filepath.Dir(path))
		if path != w.o.Program && len(found) < maxRefusals && !slices.Contains(found, path) && refuses {
			found = append(found, path)
		}
	}
	for line := range strings.Lines(output) {
		if !refused.MatchString(line) {
			continue
		}
		aboutNetwork := offline.MatchString(line) // its words are addresses and methods
		given := func(text string) bool { return !aboutNetwork && slices.Contains(arguments, text) }
		for _, m := range quoted.FindAllStringSubmatch(line, 8) {
			consider(line, m[1], given(m[1]) || isFile(m[1], aboutNetwork))
		}
		for _, m := range bare.FindAllStringSubmatch(refused.ReplaceAllString(line, " "), 32) {
			consider(line, m[1], given(m[1]) || isFile(m[1], aboutNetwork))
		}
		for _, arg := range arguments {
			if strings.ContainsRune(arg, filepath.Separator) && strings.Contains(line, arg) {
				consider(line, arg, !aboutNetwork)
			}
		}
	}
	return found
}

// isFile reports whether a text of a message is certainly a file, also one that does not exist.
// In a message about the network only an absolute path is.
func isFile(text string, aboutNetwork bool) bool {
	text = strings.TrimRight(text, ".,;")
	if filepath.IsAbs(text) || strings.HasPrefix(text, "~/") {
		return true
	}
	return !aboutNetwork &&
		(strings.ContainsRune(text, filepath.Separator) && !strings.Contains(text, "://") || fileName.MatchString(text))
}

// refuses reports whether the rules may refuse a path: it exists, or its directory
// does, and it may not be changed.
func (w *Wall) refuses(r *sandbox.Rules, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	exists := err == nil
	if !exists {
		parent, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil || parent == "/" {
			return false
		}
		real = filepath.Join(parent, filepath.Base(path))
	}
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return p == real || sandbox.Within(real, p) })
	}
	switch {
	case in(r.Write), in(r.Data):
		return false
	case !exists:
		return true
	case in(r.Read):
		info, err := os.Stat(real)
		// what is read-only for everyone is no news
		return err == nil && (info.IsDir() || r.Attributes || !in(sandbox.System()))
	}
	return true
}
