package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/launcher"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// A Program is the command with which a server is started.
type Program struct {
	Server  string
	Command []string
	Dir     string   // working directory
	Env     []string // of the server, as NAME=value
	At      string
	// Changeable are the directories that its tools may change, if it is a wrapped program,
	// which runs in a sandbox.
	Changeable []string
	// Loader is the program in Command that loads code which Command may not name, from
	// CodeDirs, which are real directories.
	Loader   string
	CodeDirs []string

	place source.Position // that At shows
}

// Programs returns a check of the programs that servers need: each is in PATH, and those that
// install servers, such as npx and docker, have a version that works. It starts these to
// learn their versions, and never the program of a server.
func Programs(all []Program) Check {
	return Check{"programs", func(ctx context.Context) (found []Finding) {
		asked := map[string][]Finding{}
		for _, p := range all {
			if len(p.Command) == 0 {
				continue
			}
			path, err := stdio.Resolve(p.Command[0], p.Dir, p.Env)
			if err != nil {
				found = append(found, ofProgram(p, err))
				continue
			}
			if runtimeOf(p.Command) == "" {
				continue
			}
			if _, known := asked[path]; !known {
				asked[path] = version(ctx, runtimeOf(p.Command), path, p.Env)
			}
			for _, f := range asked[path] {
				f.Check, f.Server, f.At = "launchers", p.Server, p.At
				found = append(found, f)
			}
		}
		return found
	}}
}

// ofProgram reports a command that does not start.
func ofProgram(p Program, err error) Finding {
	f := Finding{Severity: Error, Server: p.Server, Message: err.Error(), At: p.At}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(p.Command[0])), ".exe")
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		f.Message, f.Remedy = e.Message, e.Hint
		switch {
		case e.Reason == "command_not_executable" && strings.Contains(e.Message, "not executable"):
			path := p.Command[0]
			if !filepath.IsAbs(path) && strings.ContainsRune(path, '/') {
				path = filepath.Join(p.Dir, path)
			}
			f.Remedy = "run `chmod +x " + quote(path) + "`, or run it through its interpreter"
		case e.Path == "cwd":
			f.Remedy = "run `mkdir -p " + quote(p.Dir) + "`, or change cwd at " + p.At
		}
	}
	if runtimeOf(p.Command[:1]) != "" {
		f.Check = "launchers"
	}
	if install := installation(name); install != "" {
		f.Remedy = "run `" + install + "`; " + f.Remedy
	}
	if f.Remedy == "" {
		f.Remedy = "correct command at " + p.At
	}
	return f
}

// runtimeOf returns the runtime whose version matters for a command, or "".
func runtimeOf(command []string) string {
	name, _, _ := strings.Cut(launcher.Of(command), " ")
	if name == "" {
		name = strings.TrimSuffix(strings.ToLower(filepath.Base(command[0])), ".exe")
	}
	switch name {
	case "npx", "npm", "node":
		return "node"
	case "uvx", "uv":
		return "uv"
	case "docker", "podman":
		return name
	case "python", "python3":
		return "python"
	}
	return ""
}

// leastVersions are the versions with which servers work that are published today.
var leastVersions = map[string][2]int{"node": {20, 0}, "uv": {0, 4}, "python": {3, 10}}

// version reports a runtime whose version is too old, and a docker without its daemon. path is
// the program that the server starts.
func version(ctx context.Context, name, path string, env []string) []Finding {
	args := []string{"--version"}
	switch name {
	case "docker", "podman":
		return daemon(ctx, name, path, env)
	case "node":
		if filepath.Base(path) != "node" { // npx has a version of its own
			node, err := stdio.Resolve("node", "", env)
			if err != nil {
				return []Finding{{Severity: Error,
					Message: filepath.Base(path) + " is installed, but node is not in PATH",
					Remedy:  "run `" + installation("node") + "`, or make sure that its directory is in PATH"}}
			}
			path = node
		}
	}
	text, err := output(ctx, path, args, env)
	if err != nil {
		return []Finding{{Severity: Warning, Message: fmt.Sprintf("%s --version failed: %s", path, err),
			Remedy: "run `" + quote(path) + " --version` and install it again if it fails"}}
	}
	major, minor, ok := versionIn(text)
	least := leastVersions[name]
	if !ok || major > least[0] || major == least[0] && minor >= least[1] {
		return nil
	}
	return []Finding{{
		Severity: Error,
		Message: fmt.Sprintf("%s is version %d.%d; servers need %d.%d or newer",
			path, major, minor, least[0], least[1]),
		Remedy: "run `" + installation(name) + "` or install a newer version in another way",
	}}
}

// daemon reports a container program that cannot reach its daemon.
func daemon(ctx context.Context, name, path string, env []string) []Finding {
	args := []string{"version", "--format", "{{.Server.Version}}"}
	if name == "podman" {
		args = []string{"version"}
	}
	text, err := output(ctx, path, args, env)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return []Finding{{Severity: Error, Message: "the daemon of " + name + " does not answer",
			Remedy: "run `" + startDaemon() + "`, and `" + name + " info` to see whether it answers"}}
	case strings.Contains(strings.ToLower(text), "permission denied"):
		return []Finding{{Severity: Error, Message: "this user may not use the daemon of " + name,
			Remedy: "run `sudo usermod -aG docker \"$USER\"`, then log in again"}}
	}
	return []Finding{{Severity: Error, Message: "the daemon of " + name + " does not run",
		Remedy: "run `" + startDaemon() + "`"}}
}

func startDaemon() string {
	switch runtime.GOOS {
	case "darwin":
		return "open -a Docker"
	case "windows":
		return "Start-Service docker"
	}
	return "sudo systemctl start docker"
}

// packages are the packages with a program, by package manager.
var packages = map[string]map[string]string{
	"node": {"apt-get": "nodejs npm",
		"dnf": "nodejs npm", "apk": "nodejs npm", "pacman": "nodejs npm", "brew": "node", "winget": "OpenJS.NodeJS"},
	"uv": {"apt-get": "", "brew": "uv", "pacman": "uv", "apk": "uv", "dnf": "uv", "winget": "astral-sh.uv"},
	"python": {"apt-get": "python3", "dnf": "python3", "apk": "python3", "pacman": "python", "brew": "python",
		"winget": "Python.Python.3.12"},
	"docker": {"apt-get": "docker.io", "dnf": "moby-engine", "apk": "docker", "pacman": "docker",
		"brew": "--cask docker", "winget": "Docker.DockerDesktop"},
	"podman": {"apt-get": "podman", "dnf": "podman", "apk": "podman", "pacman": "podman", "brew": "podman",
		"winget": "RedHat.Podman"},
}

// managers are the package managers, with the words before a package.
var managers = []struct{ name, words string }{
	{"brew", "brew install"}, {"apt-get", "sudo apt-get install"}, {"dnf", "sudo dnf install"}, {"apk", "sudo apk add"},
	{"pacman", "sudo pacman -S"}, {"winget", "winget install"},
}

// installation returns the command that installs a program on this machine, or "".
func installation(program string) string {
	name := runtimeOf([]string{program})
	if packages[name] == nil {
		return ""
	}
	for _, m := range managers {
		if _, err := stdio.Resolve(m.name, "", os.Environ()); err != nil {
			continue
		}
		if pkg := packages[name][m.name]; pkg != "" {
			return m.words + " " + pkg
		}
	}
	if name == "uv" {
		return "pip install uv"
	}
	return ""
}

var versionNumber = lazyregexp.New(`(\d{1,4})\.(\d{1,4})`)

// versionIn finds the first version in a text.
func versionIn(text string) (major, minor int, ok bool) {
	m := versionNumber.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(m[1]) // at most four digits
	minor, _ = strconv.Atoi(m[2])
	return major, minor, true
}

// maxOutput is how much of the output of a program is read, in bytes.
const maxOutput = 4096

// output runs a program and returns what it prints.
func output(ctx context.Context, path string, args, env []string) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	p, err := process.Start(process.Command{Path: path, Args: append([]string{path}, args...), Env: env,
		Stdout: w, Stderr: w})
	_ = w.Close()
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() {
		p.Kill()
		_ = r.Close() // a descendant may hold the other end
	})
	defer stop()
	text := make([]byte, maxOutput)
	n := 0
	for n < maxOutput {
		more, err := r.Read(text[n:])
		if n += more; err != nil {
			break
		}
	}
	<-p.Done()
	switch {
	case ctx.Err() != nil:
		return string(text[:n]), context.DeadlineExceeded
	case p.ExitCode() != 0:
		return string(text[:n]), errors.New(p.Ended())
	}
	return string(text[:n]), nil
}
