package stdio

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/junctor-mcp/junctor/sdk"
)

// inherited lists the variables that every server gets. Programs need them to
// work and to print in the user's language. They are unlikely to contain a
// secret.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
	"TMPDIR", "TMP", "TEMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "COMSPEC",
}

// CertificateVariables name files and directories with the certificates of authorities that
// programs trust: OpenSSL and uv, Node, Python's requests, curl, and git. In a network whose
// proxy replaces certificates nothing can be downloaded without them.
var CertificateVariables = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
}

// Certificates returns the [CertificateVariables] of this process that are set, as NAME=value.
func Certificates() (env []string) {
	for _, name := range CertificateVariables {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Environ returns a server's environment, sorted: the inherited variables of
// this process, then passed (NAME=value), then set. Later values replace
// earlier ones.
func Environ(passed []string, set map[string]string) []string {
	vars := map[string]string{}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			vars[name] = v
		}
	}
	for _, kv := range passed {
		if name, v, ok := strings.Cut(kv, "="); ok {
			vars[name] = v
		}
	}
	for name, v := range set {
		vars[name] = v
	}
	var env []string
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env
}

// Getenv returns the value of a variable in an environment, or "".
func Getenv(env []string, name string) string {
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// Resolve returns the path of a program that is started in dir with the
// environment env. Its error explains to the user what is missing and how to
// install it.
func Resolve(name, dir string, env []string) (string, error) {
	if err := checkDir(dir); err != nil {
		return "", err
	}
	path, err := lookPath(name, dir, env)
	if err != nil {
		return "", notFound(name, env, err)
	}
	return path, nil
}

// lookPath finds a program as the server would: a name with a slash is relative
// to dir, and any other name is searched in the PATH of env.
func lookPath(name, dir string, env []string) (string, error) {
	var exts []string
	if runtime.GOOS == "windows" {
		exts = strings.Split(strings.ToLower(Getenv(env, "PATHEXT")), ";")
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			var err error
			if name, err = filepath.Abs(filepath.Join(dir, name)); err != nil {
				return "", err
			}
		}
		return executable(name, exts)
	}
	var denied error
	for _, d := range filepath.SplitList(Getenv(env, "PATH")) {
		if !filepath.IsAbs(d) {
			continue // a relative entry would run files of the current directory
		}
		path, err := executable(filepath.Join(d, name), exts)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fs.ErrNotExist
}

func executable(path string, exts []string) (string, error) {
	absent := fs.ErrNotExist
	for _, ext := range append([]string{""}, exts...) {
		info, err := os.Stat(path + ext)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return "", err
		case err != nil:
			continue
		case info.IsDir():
			absent = syscall.EISDIR
			continue
		case runtime.GOOS == "windows" && ext == "" && len(exts) > 0 && filepath.Ext(path) == "":
			continue
		case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
			return "", fs.ErrPermission
		}
		return path + ext, nil
	}
	return "", absent
}

// checkDir checks the working directory before the start, because the error of
// the start does not distinguish a missing directory from a missing program.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	problem := "does not exist"
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		problem = "is not a directory"
	case !errors.Is(err, fs.ErrNotExist):
		problem = "cannot be used: " + err.Error()
	}
	return &sdk.Error{
		Code: sdk.Unavailable, Reason: "not_started", Path: "cwd",
		Message: fmt.Sprintf("working directory %s %s", dir, problem),
		Hint:    cmp.Or(homeHint(dir), "create it or change cwd"),
	}
}

// installHints explains how to install programs that are often missing.
var installHints = map[string]string{
	"npx":     "npx comes with Node.js: install Node.js 20 or newer and make sure that its bin directory is in PATH",
	"node":    "install Node.js 20 or newer and make sure that its bin directory is in PATH",
	"npm":     "npm comes with Node.js: install Node.js 20 or newer",
	"uvx":     "uvx comes with uv, the Python package manager: install uv and make sure that it is in PATH",
	"uv":      "install uv, the Python package manager, and make sure that it is in PATH",
	"python":  "install Python 3, or name python3 as the command",
	"python3": "install Python 3 and make sure that it is in PATH",
	"pipx":    "install pipx and make sure that it is in PATH",
	"docker":  "install Docker and make sure that its client is in PATH",
	"podman":  "install Podman and make sure that it is in PATH",
	"deno":    "install Deno and make sure that it is in PATH",
	"bunx":    "bunx comes with Bun: install Bun and make sure that it is in PATH",
	"bun":     "install Bun and make sure that it is in PATH",
	"go":      "install Go and make sure that it is in PATH",
	"java":    "install a Java runtime and make sure that java is in PATH",
}

func notFound(name string, env []string, err error) error {
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "command_not_found", Path: "command"}
	inPath := !strings.ContainsRune(name, '/') && !strings.ContainsRune(name, filepath.Separator)
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Reason, e.Message = "command_not_executable", fmt.Sprintf("command %q was found but is not executable", name)
		e.Hint = "give it the permission, or run it through its interpreter"
		return e
	case errors.Is(err, syscall.EISDIR):
		e.Reason, e.Message = "command_not_executable", fmt.Sprintf("command %q is a directory", name)
		e.Hint = "name the program in it"
		return e
	case inPath:
		e.Message = fmt.Sprintf("command %q was not found in PATH (%s)", name, Getenv(env, "PATH"))
	default:
		e.Message = fmt.Sprintf("command %q does not exist", name)
	}
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(name)), ".exe")
	switch hint := cmp.Or(oneString(name), installHints[base]); {
	case hint != "":
		e.Hint = hint
	case inPath:
		e.Hint = fmt.Sprintf("install %s, or give the command's full path", name)
	default:
		e.Hint = "a relative path is relative to cwd, by default the directory of the configuration file"
	}
	return e
}

// notStarted explains why an existing program did not start.
func notStarted(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err // the message contains the path already
	}
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "not_started", Path: "command",
		Message: fmt.Sprintf("starting %s: %v", path, err)}
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "the file is not executable for this user"
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "the file exists; the interpreter that its first line names may not"
	case errors.Is(err, syscall.ENOEXEC):
		e.Hint = "it is not a program for this system; a script begins with a line such as #!/bin/sh"
	}
	return e
}
