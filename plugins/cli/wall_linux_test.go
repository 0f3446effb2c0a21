package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// A walledSite is a home directory with secrets, a directory of Junctor itself, and
// a working directory.
type walledSite struct {
	home, work, own, shell string
}

func newWalledSite(t *testing.T) *walledSite {
	t.Helper()
	if missing := sandbox.Probe().Missing(&sandbox.Rules{}); missing != "" {
		if os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" {
			t.Fatalf("this kernel lacks %s", missing)
		}
		t.Skipf("this kernel lacks %s", missing)
	}
	home := t.TempDir()
	s := &walledSite{home: home, work: filepath.Join(home, "work"), own: filepath.Join(home, "data", "of-junctor")}
	for name, text := range map[string]string{
		".ssh/id_rsa": "SECRET", ".aws/credentials": "SECRET", ".config/unknown/token": "SECRET",
		".claude.json": "SECRET", ".config/gh/hosts.yml": "SECRET", "notes.txt": "SECRET",
		".gitconfig": "[user]\n\tname = A Name\n",
		".profile":   "true", "work/in.txt": "inside\n", "data/of-junctor/state": "SECRET",
		"elsewhere/file": "SECRET", "settings/file": "settings\n",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv(sandbox.PrivateVariable, s.own)
	// The rules for arguments know sh as a program that runs others.
	shell, err := os.ReadFile("/bin/sh")
	if err == nil {
		s.shell = filepath.Join(t.TempDir(), "interpret")
		err = os.WriteFile(s.shell, shell, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shell opens a server with two tools that run any script, one of which counts as
// reading: whatever the rules for arguments let through, the wall holds.
func (s *walledSite) open(t *testing.T, cwd, settings string) *host {
	t.Helper()
	block := `{"name":%q,"description":"d","argv":["-c","{script}"],"access":%q,"argument":[{"name":"script","required":true,"pattern":"(?s).*"}]}`
	return openHost(t, fmt.Sprintf(`{"command":[%q],"cwd":%q,"tool":[%s,%s]%s}`, s.shell, cwd,
		fmt.Sprintf(block, "look", "read"), fmt.Sprintf(block, "change", "write"), settings))
}

// script runs a script with one of the tools. A variable hides what the rules for
// arguments would find.
func script(h *host, tool, text string) callResult {
	return h.call(tool, fmt.Sprintf(`{"script":%q}`, strings.ReplaceAll(text, "~", `$(echo '\176')`)))
}

// TestProgramsStayBehindTheWall runs scripts that the rules for arguments do not
// see through.
func TestProgramsStayBehindTheWall(t *testing.T) {
	s := newWalledSite(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	h := s.open(t, s.work, "")
	for _, c := range []struct {
		script      string
		look, write bool // whether it works with the tool that reads, and with the one that writes
	}{
		{"cat in.txt", true, true},
		{"cat /etc/passwd >/dev/null; git --version", true, true},
		{"echo x >$TMPDIR/t && cat $TMPDIR/t", true, true},
		{"test -w $TMPDIR && test $TMPDIR != /tmp", true, true},
		{"echo x >new.txt", false, true},
		{"mkdir sub && mv new.txt sub && rm -r sub", false, true},
		{"chmod 777 in.txt", false, true},
		{"cat $HOME/.ssh/id_rsa", false, false},
		{"cat $HOME/.aws/credentials", false, false},
		{"cat $HOME/.config/unknown/token", false, false},
		{"cat $HOME/.claude.json", false, false},
		{"cat $HOME/notes.txt", false, false},
		{"cat /proc/self/cwd/../notes.txt", false, false},
		{"cat $HOME/data/of-junctor/state", false, false},
		{"ls $HOME/elsewhere", false, false},
		{"ln -s $HOME/.ssh link 2>/dev/null; cat link/id_rsa", false, false},
		{"ln $HOME/.ssh/id_rsa hard; cat hard", false, false},
		{"echo x >>$HOME/.profile", false, false},
		{"echo x >$HOME/.bashrc", false, false},
		{"echo x >$HOME/new", false, false},
		{"rm $HOME/notes.txt", false, false},
		{"mv $HOME/notes.txt stolen.txt", false, false},
		{"cat /proc/$PPID/environ", false, false},
		{"kill -0 $PPID", false, false},
		{"echo x >/tmp/junctor-wall-test", false, false},
		{"bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "'", false, false},
		{"bash -c 'echo x >/dev/udp/127.0.0.1/" + port + "'", false, false},
		{"getent ahosts localhost. >/dev/null; perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or exit 1'",
			false, false},
	} {
		for tool, works := range map[string]bool{"look": c.look, "change": c.write} {
			if c.look != c.write && tool == "look" {
				continue // after the tool that writes it would not fail for its own reason
			}
			if r := script(h, tool, c.script); r.IsError == works {
				t.Errorf("%s: %s: %+v", tool, c.script, r)
			}
		}
	}
	for _, text := range []string{"echo x >other.txt", "rm in.txt", "chmod 777 in.txt", "touch in.txt", "mkdir d",
		"mv in.txt moved"} {
		if r := script(h, "look", text); !r.IsError {
			t.Errorf("a tool that reads: %s: %+v", text, r)
		}
	}
	for name, want := range map[string]string{"notes.txt": "SECRET", ".profile": "true", "work/in.txt": "inside\n"} {
		if text, err := os.ReadFile(filepath.Join(s.home, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}

// TestRefusalsNameTheLine checks that an error names the path and the line that
// allows it, and that the line does.
func TestRefusalsNameTheLine(t *testing.T) {
	s := newWalledSite(t)
	file := filepath.Join(s.home, "settings", "file")
	for _, c := range []struct{ tool, script, says string }{
		{"look", "cat $HOME/settings/file", fmt.Sprintf("`sandbox { read = [%q] }`", file)},
		{"look", "echo x >in.txt", "this tool counts as reading; if it writes, name its command in `write = [...]`"},
		{"change", "echo x >$HOME/settings/new", fmt.Sprintf("refuses to create %s: add `sandbox { write = [%q] }`",
			filepath.Join(s.home, "settings", "new"), filepath.Join(s.home, "settings"))},
		{"look", "echo 'curl: (6) Could not resolve host: example.org' >&2; exit 6", "`sandbox { network = true }`"},
		{"look", "echo '<urlopen error [Errno 13] Permission denied>' >&2; exit 1", "`sandbox { network = true }`"},
		{"look", "echo 'Error: connect EACCES 127.0.0.1:18765' >&2; exit 1", "`sandbox { network = true }`"},
		{"look", "echo \"ModuleNotFoundError: No module named 'lib'\" >&2; exit 1",
			fmt.Sprintf("not what lies beside it: add `sandbox { read = [%q] }`", filepath.Dir(s.shell))},
		{"look", "echo 'sh: cannot open /dev/tty: Permission denied' >&2; exit 1",
			"asks at a terminal (/dev/tty), and a run has none"},
		{"change", "echo x >/dev/console", "asks at a terminal (/dev/console), and a run has none"},
		{"look", "echo 'cat: /dev/kmsg: Permission denied' >&2; exit 1", "`sandbox { read = [\"/dev/kmsg\"] }`"},
		{"look", "echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock' >&2; exit 1",
			"`sandbox { unix_sockets = true }`"},
	} {
		h := s.open(t, filepath.Join(s.home, "work"), "")
		if r := script(h, c.tool, c.script); !r.IsError || !strings.Contains(r.Content[0].Text, c.says) {
			t.Errorf("%s: %+v\nwant: %s", c.script, r, c.says)
		}
	}
	h := s.open(t, s.work, "")
	if r := script(h, "look",
		"echo '  File \"x.py\", line 2, in connect: self.sock = None' >&2; exit 1"); strings.Contains(r.Content[0].Text,
		"unix_sockets") {
		t.Errorf("a variable is taken for a socket: %+v", r)
	}
	if r := script(h, "look", "echo 'sh: cannot open /dev/tty: Permission denied' >&2; exit 1"); strings.Contains(
		r.Content[0].Text, "sandbox {",
	) {
		t.Errorf("a setting is named that gives no terminal: %+v", r)
	}
	for _, message := range []string{
		`E1127 19:11:55.311928 memcache.go:265] "Unhandled Error" err="couldn't get current server API group list: Get \"http://localhost:8080/api?timeout=32s\": dial tcp 127.0.0.1:8080: socket: permission denied"`,
		`error: permission denied for table "people" at 12.5 s`,
		`permission denied: you need the role 'admin'`, `cannot open "the quoted words"`,
	} {
		r := script(h, "look", "cat <<'X' >&2; exit 1\n"+message+"\nX\n")
		if text := r.Content[0].Text; strings.Contains(text, "refuses to change") ||
			strings.Contains(text, "refuses to create") || strings.Contains(text, "sandbox { read") {
			t.Errorf("words are taken for files: %+v", r)
		}
	}
	ports := s.open(t, s.work, `,"sandbox":{"network":[443]}`)
	if r := script(ports, "look",
		"echo 'curl: (7) Failed to connect to 127.0.0.1 port 18765' >&2; exit 7"); !strings.Contains(r.Content[0].Text,
		"TCP port 443 of any host and no other") {
		t.Errorf("another port: %+v", r)
	}
	if r := script(h, "look", "echo missing >&2; exit 1"); strings.Contains(r.Content[0].Text, "sandbox") {
		t.Errorf("a failure of the program's own is blamed on the sandbox: %+v", r)
	}
	for _, read := range []string{file, "~/settings", filepath.Dir(file)} {
		h := s.open(t, s.work, fmt.Sprintf(`,"sandbox":{"read":[%q]}`, read))
		if r := script(h, "look", "cat $HOME/settings/file"); r.IsError {
			t.Errorf("read = [%q]: %+v", read, r)
		}
		if r := script(h, "change", "echo x >>$HOME/settings/file"); !r.IsError {
			t.Errorf("read = [%q] allows writing: %+v", read, r)
		}
	}
	h = s.open(t, s.work, `,"sandbox":{"read":["~/.config"]}`)
	if r := script(h, "look", "cat $HOME/.config/unknown/token"); r.IsError {
		t.Errorf("a hidden directory that is named: %+v", r)
	}
	if r := script(h, "look", "cat $HOME/.config/gh/hosts.yml"); !r.IsError {
		t.Errorf("credentials in a directory that is named: %+v", r)
	}
	h = s.open(t, s.work, `,"sandbox":{"write":["~/settings"]}`)
	if r := script(h, "change", "echo x >>$HOME/settings/file"); r.IsError {
		t.Errorf("%+v", r)
	}
	if r := script(h, "look", "echo x >>$HOME/settings/file"); !r.IsError {
		t.Errorf("a tool that reads may write: %+v", r)
	}
}

// TestHomeAsWorkingDirectory checks that a working directory with private files is
// granted without them.
func TestHomeAsWorkingDirectory(t *testing.T) {
	s := newWalledSite(t)
	for _, cwd := range []string{s.home, filepath.Dir(s.home)} {
		h := s.open(t, cwd, "")
		for text, works := range map[string]bool{
			"cat $HOME/notes.txt": true, "echo x >>$HOME/elsewhere/file": true, "cat $HOME/work/in.txt": true,
			"cat $HOME/.ssh/id_rsa": false, "cat $HOME/.config/unknown/token": false,
			"cat $HOME/data/of-junctor/state": false, "echo x >>$HOME/.profile": false, "ls -A $HOME/.aws": false,
		} {
			if r := script(h, "change", text); r.IsError == works {
				t.Errorf("%s: %s: %+v", cwd, text, r)
			}
		}
		r := script(h, "change", "echo x >$HOME/new")
		if !r.IsError || !strings.Contains(r.Content[0].Text, "no new ones can be created") {
			t.Errorf("%s: %+v", cwd, r)
		}
		if err := os.WriteFile(filepath.Join(s.home, ".later"), []byte("SECRET"), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := script(h, "change", "cat $HOME/.later"); !r.IsError {
			t.Errorf("%s: a file that appeared later: %+v", cwd, r)
		}
	}
}

// TestHomeIsKnownWithoutTheVariable runs with the variable HOME unset or about
// another directory, as services do.
func TestHomeIsKnownWithoutTheVariable(t *testing.T) {
	s := newWalledSite(t)
	for _, variable := range []string{"", t.TempDir()} {
		t.Setenv("HOME", variable)
		h := s.open(t, s.home, "")
		for text, works := range map[string]bool{"cat notes.txt": true, "cat .ssh/id_rsa": false,
			"cat .aws/credentials": false, "ls .ssh": false, "cat .config/gh/hosts.yml": false} {
			if r := script(h, "change", text); r.IsError == works {
				t.Errorf("HOME=%q: %s: %+v", variable, text, r)
			}
		}
	}
}

// TestLinkedSettingsAreRead runs git with settings that lie in another directory, with a
// temporary directory behind a link.
func TestLinkedSettingsAreRead(t *testing.T) {
	s := newWalledSite(t)
	settings, temp := filepath.Join(s.home, ".gitconfig"), filepath.Join(t.TempDir(), "link")
	moved := filepath.Join(s.home, "settings", "gitconfig")
	if err := errors.Join(os.Rename(settings, moved), os.Symlink(moved, settings),
		os.Symlink(t.TempDir(), temp)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	h := openHost(t, fmt.Sprintf(`{"command":["git"],"cwd":%q,"tool":[{"name":"name","description":"d","argv":["config","--global","user.name"],"access":"read"}]}`,
		s.work))
	if r := h.call("name", `{}`); r.IsError || !strings.Contains(r.Content[0].Text, "A Name") {
		t.Errorf("%+v", r)
	}
	if r := script(s.open(t, s.work, ""), "look", "echo x >$TMPDIR/t && cat $TMPDIR/t"); r.IsError {
		t.Errorf("the temporary directory: %+v", r)
	}
}

func TestPrivateWorkingDirectories(t *testing.T) {
	s := newWalledSite(t)
	open := func(settings string) error {
		conn, err := plugin().Transports["cli"].Open(t.Context(), &sdk.Server{Dir: s.home}, []byte(settings))
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err
	}
	block := `"tool":[{"name":"a","description":"d","argv":["x"]}]`
	for cwd, path := range map[string]string{s.home + "/.ssh": "cwd", s.home + "/.aws": "cwd", s.work: "", s.own: "",
		s.home + "/.config/unknown": ""} {
		err := open(fmt.Sprintf(`{"command":["cat"],"cwd":%q,%s}`, cwd, block))
		if e, ok := err.(*sdk.Error); (path != "") != ok || ok && (e.Path != path || e.Hint == "") {
			t.Errorf("cwd %s: %v", cwd, err)
		}
	}
	if err := open(fmt.Sprintf(`{"command":["cat"],"cwd":%q,%s,"sandbox":{"read":["~/.ssh"]}}`, s.home+"/.ssh",
		block)); err != nil {
		t.Errorf("named by the block: %v", err)
	}
	for name, target := range map[string]string{"keys": s.home + "/.ssh",
		"beside": s.home + "/elsewhere", "own": s.work} {
		if err := os.Symlink(target, filepath.Join(s.work, name)); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"read", "write"} {
			err := open(fmt.Sprintf(`{"command":["cat"],"cwd":%q,%s,"sandbox":{%q:[%q]}}`, s.work, block, list,
				filepath.Join(s.work, name)))
			if (name == "own") != (err == nil) ||
				err != nil && !strings.Contains(err.Error(), "a tool can make such links") {
				t.Errorf("%s through a link in the working directory: %v", target, err)
			}
		}
	}
	if err := open(fmt.Sprintf(`{"command":["cat"],"cwd":%q,%s,"sandbox":{"read":["/proc/self"]}}`, s.work,
		block)); err == nil || !strings.Contains(err.Error(), "its own /proc/self") {
		t.Errorf("the plugin's directory in /proc is granted: %v", err)
	}
	if r := s.open(t, s.own, "").call("change", `{"script":"cat state"}`); !r.IsError {
		t.Errorf("a directory of Junctor is granted: %+v", r)
	}
	for _, settings := range []string{`"read":["/no/such/path"]`, `"write":["~/absent"]`, `"read":[""]`,
		`"read":["~other/x"]`, `"network":"yes"`, `"network":[0]`} {
		if err := open(fmt.Sprintf(`{"command":["cat"],"cwd":%q,%s,"sandbox":{%s}}`, s.work, block,
			settings)); err == nil || !strings.Contains(fmt.Sprintf("%#v %v", err, err), "sandbox.") {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

func TestSettingsOfKnownProgramsAreReadable(t *testing.T) {
	s := newWalledSite(t)
	h := openHost(t, fmt.Sprintf(`{"command":["git"],"cwd":%q,"tool":[{"name":"get","description":"d","argv":["config","--global","user.name"],"access":"read"},{"name":"set","description":"d","argv":["config","--global","user.name","x"]}]}`,
		s.work))
	if r := h.call("get", `{}`); r.Result.Stdout != "A Name\n" {
		t.Errorf("%+v", r)
	}
	if r := h.call("set", `{}`); !r.IsError {
		t.Errorf("git changed its settings: %+v", r)
	}
}
