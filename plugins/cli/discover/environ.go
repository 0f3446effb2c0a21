package discover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dropped are variables that probes do not get: they lead to a screen, to an
// agent or to a terminal's habits. A name that ends in "*" stands for all that
// begin so.
var dropped = []string{
	"DISPLAY", "WAYLAND_DISPLAY", "DBUS_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO",
	"LESS", "LESSOPEN", "LESSCLOSE", "MORE", "FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM", "GREP_OPTIONS",
	"LC_*", "LANGUAGE", "POSIXLY_CORRECT", "OLDPWD", "PWD",
	"COMP_*", "_ARGCOMPLETE*", "COMPLETE", "MAN_KEEP_FORMATTING",
}

// fixed are what every probe gets: plain text in English, as wide as it likes,
// from a program that asks nobody anything.
var fixed = []string{
	"LC_ALL=C.UTF-8", "LANG=C.UTF-8", "COLUMNS=400", "LINES=10000", "TERM=dumb",
	"MANWIDTH=400", "MANOPT=--no-hyphenation --no-justification",
	"NO_COLOR=1", "CLICOLOR=0", "NPM_CONFIG_COLOR=false", "PY_COLORS=0", "PYTHON_COLORS=0",
	"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=cat", "AWS_PAGER=cat", "GH_PAGER=cat",
	"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "BROWSER=false",
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SUDO_ASKPASS=false", "DEBIAN_FRONTEND=noninteractive",
	"CI=1", "DO_NOT_TRACK=1", "NO_UPDATE_NOTIFIER=1", "NPM_CONFIG_UPDATE_NOTIFIER=false", "PIP_DISABLE_PIP_VERSION_CHECK=1",
	"GH_NO_UPDATE_NOTIFIER=1", "CHECKPOINT_DISABLE=1", "HOMEBREW_NO_AUTO_UPDATE=1", "HOMEBREW_NO_ANALYTICS=1",
	"DOTNET_CLI_TELEMETRY_OPTOUT=1", "PYTHONDONTWRITEBYTECODE=1",
}

// A nest is where probes run: an empty directory that is their home as well,
// so that a program which remembers being asked, reads an alias or finds a
// project in the working directory does so where nothing is lost.
type nest struct {
	dir     string // to be removed
	workDir string
	env     []string
	// realEnv is env with the user's own home. It is used where the program
	// cannot even show its help without: many are started through a wrapper
	// that looks in the home directory for what to start.
	realEnv []string
}

func newNest(o *Options) (*nest, error) {
	dir, err := os.MkdirTemp("", "junctor-probe-")
	if err != nil {
		return nil, err
	}
	n := &nest{dir: dir, workDir: filepath.Join(dir, "work")}
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{n.workDir, home, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			n.remove()
			return nil, err
		}
	}
	// A fixed argument that names a file, such as the script that an interpreter
	// runs, does so from the directory that calls run in.
	if needsDir(o) {
		n.workDir = o.Dir
	}
	own := []string{"PWD=" + n.workDir, "TMPDIR=" + tmp}
	n.realEnv = environ(o.Env, slices.Concat(fixed, own))
	n.env = environ(o.Env, slices.Concat(fixed, own, []string{
		"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "LOCALAPPDATA=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_RUNTIME_DIR=" + tmp,
	}))
	return n, nil
}

func (n *nest) remove() {
	// A program may have taken its own permission away.
	_ = filepath.WalkDir(n.dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(n.dir)
}

// needsDir reports whether the command names a file that is found from Dir.
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

// environ is base without what probes do not get, and with set on top.
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
