package login

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
)

// OpenURL opens a page in the browser if there is one. It always prints the address
// too, because the wrong browser may open.
func (t *Terminal) OpenURL(ctx context.Context, page, why string) error {
	address, err := Address(page, t.Loopback)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://"), "/")
	host, _, _ = strings.Cut(host, "?")
	t.state.Store(stateOf(address))
	intro := plain(why)
	if server := plain(t.Server); !strings.Contains(intro, server) {
		intro = strings.TrimSuffix(server+": "+intro, ": ")
	}
	if t.headless != "" {
		t.printf("%s\nOpen this page of %s in a browser (none is opened here: %s):\n\n  %s\n\n",
			intro, host, t.headless, address)
		return nil
	}
	t.printf("%s\nOpening a page of %s in the browser. If none appears, open it yourself:\n\n  %s\n\n",
		intro, host, address)
	if err := t.browse(ctx, address); err != nil {
		t.printf("No browser was opened: %s.\n", plain(err.Error()))
	}
	return ctx.Err()
}

// browse starts the browser and reports an early exit.
func (t *Terminal) browse(ctx context.Context, address string) error {
	env := t.browserEnv()
	argv := t.browser()
	path, err := t.find(argv[0])
	if err != nil {
		return err
	}
	proc, err := process.Start(process.Command{Path: path, Args: append(argv, address), Env: env, Release: true})
	if err != nil {
		return err
	}
	timer := time.NewTimer(browserStart)
	defer timer.Stop()
	select {
	case <-proc.Done():
		if code := proc.ExitCode(); code != 0 {
			return fmt.Errorf("%s %s", filepath.Base(path), proc.Ended())
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// browser returns the program that opens addresses, with its arguments. BROWSER holds a
// program and optional arguments, separated by blanks. No shell reads it.
func (t *Terminal) browser() []string {
	if named, _ := t.Lookup("BROWSER"); strings.TrimSpace(named) != "" {
		return strings.Fields(named)
	}
	switch runtime.GOOS {
	case "windows":
		return []string{"rundll32.exe", "url.dll,FileProtocolHandler"}
	case "darwin":
		return []string{"/usr/bin/open"}
	}
	return []string{"xdg-open"}
}

// find looks a program up in PATH. It ignores relative directories, because other users
// may own the current one.
func (t *Terminal) find(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return "", fmt.Errorf("BROWSER names %q, which is relative", name)
	}
	path, _ := t.Lookup("PATH")
	if runtime.GOOS == "windows" {
		root, _ := t.Lookup("SYSTEMROOT")
		path = filepath.Join(root, "System32") + string(os.PathListSeparator) + path
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		full := filepath.Join(dir, name)
		info, err := os.Stat(full)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0):
			return full, nil
		}
	}
	return "", fmt.Errorf("there is no %s in PATH", name)
}

// browserVariables are the variables that a browser needs to find the user's session.
// They hold no secrets.
var browserVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ", "TMPDIR",
	"TMP", "TEMP",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "DESKTOP_STARTUP_ID",
	"XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "XDG_SESSION_DESKTOP", "XDG_SESSION_ID",
	"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CACHE_HOME",
	"KDE_FULL_SESSION", "KDE_SESSION_VERSION", "GNOME_DESKTOP_SESSION_ID", "BROWSER",
	"VSCODE_IPC_HOOK_CLI", "WSL_INTEROP", "WSL_DISTRO_NAME", "WSLENV",
	"USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
	"PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "HOMEDRIVE", "HOMEPATH",
}

func (t *Terminal) browserEnv() []string {
	var env []string
	for _, name := range browserVariables {
		if v, ok := t.Lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// stateOf returns the parameter state of the address of a login, or nil.
func stateOf(address string) *string {
	u, err := url.Parse(address)
	if err != nil || len(u.Query()["state"]) != 1 {
		return nil
	}
	state := u.Query().Get("state")
	return &state
}
