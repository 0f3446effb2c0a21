package discover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/wall"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// dropped are variables that probes do not get: they refer to a display, an
// agent or terminal settings. A name that ends in "*" is a prefix.
var dropped = []string{
	"DISPLAY", "WAYLAND_DISPLAY", "DBUS_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO",
	"LESS", "LESSOPEN", "LESSCLOSE", "MORE", "FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM", "GREP_OPTIONS",
	"LC_*", "LANGUAGE", "POSIXLY_CORRECT", "OLDPWD", "PWD",
	"COMP_*", "_ARGCOMPLETE*", "COMPLETE", "MAN_KEEP_FORMATTING",
}

// fixed are variables that every probe gets. They ask for plain text in
// English, wide lines and no prompts.
var fixed = []string{
	"LC_ALL=C.UTF-8", "LANG=C.UTF-8", "COLUMNS=400", "LINES=10000", "TERM=dumb",
	"MANWIDTH=400", "MANOPT=--no-hyphenation --no-justification",
	"NO_COLOR=1", "CLICOLOR=0", "NPM_CONFIG_COLOR=false", "PY_COLORS=0", "PYTHON_COLORS=0",
	"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=cat", "AWS_PAGER=cat", "GH_PAGER=cat",
	"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "BROWSER=false",
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SUDO_ASKPASS=false",
	"DEBIAN_FRONTEND=noninteractive", "CI=1", "DO_NOT_TRACK=1", "NO_UPDATE_NOTIFIER=1",
	"NPM_CONFIG_UPDATE_NOTIFIER=false", "PIP_DISABLE_PIP_VERSION_CHECK=1", "GH_NO_UPDATE_NOTIFIER=1",
	"CHECKPOINT_DISABLE=1", "HOMEBREW_NO_AUTO_UPDATE=1", "HOMEBREW_NO_ANALYTICS=1", "DOTNET_CLI_TELEMETRY_OPTOUT=1",
	"PYTHONDONTWRITEBYTECODE=1",
}

// A workspace is the environment of probes: an empty directory with the home and
// working directories. A program that writes files, or reads aliases or a
// project from the working directory, does so there.
type workspace struct {
	dir     string // the temporary directory
	workDir string
	env     []string
	// realEnv is env with the user's own home directory. Some programs need it
	// even to show their help, because a wrapper looks there for the program to
	// start.
	realEnv []string
	rules   *sandbox.Rules // nil is no rules
}

// newWorkspace creates the directories. The caller must call remove.
func newWorkspace(o *Options) (*workspace, error) {
	dir, err := os.MkdirTemp("", "junctor-probe-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // rules have no links
		return nil, err
	}
	s := &workspace{dir: dir, workDir: filepath.Join(dir, "work")}
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{s.workDir, home, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			s.remove()
			return nil, err
		}
	}
	// A fixed argument may name a file relative to the working directory of
	// calls, such as the script of an interpreter.
	fixedDir := ""
	if needsDir(o) {
		s.workDir, fixedDir = o.Dir, o.Dir
	}
	if o.Rules != nil {
		s.rules = o.Rules(dir, fixedDir)
	}
	own := []string{"PWD=" + s.workDir, "TMPDIR=" + tmp}
	s.realEnv = environ(o.Env, slices.Concat(fixed, own))
	s.env = environ(o.Env, slices.Concat(fixed, own, []string{
		"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "LOCALAPPDATA=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_RUNTIME_DIR=" + tmp,
	}))
	return s, nil
}

// remove deletes the directories.
func (s *workspace) remove() { wall.RemoveTemp(s.dir) }

// needsDir reports whether a fixed argument names a file relative to Dir.
func needsDir(o *Options) bool {
	if o.Dir == "" {
		return false
	}
	return slices.ContainsFunc(o.Command[1:], func(arg string) bool {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		if arg == "" || filepath.IsAbs(arg) {
			return false
		}
		_, err := os.Lstat(filepath.Join(o.Dir, arg))
		return err == nil
	})
}

// environ returns base without the dropped variables, with set appended.
func environ(base, set []string) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		isSet := slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
		return isSet || slices.ContainsFunc(dropped, func(d string) bool {
			prefix, wild := strings.CutSuffix(d, "*")
			return name == d || wild && strings.HasPrefix(name, prefix)
		})
	})
	return append(env, set...)
}
