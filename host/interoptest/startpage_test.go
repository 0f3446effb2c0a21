package interoptest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxTime is how long a way of docs/start.md may take. A person needs seconds more for
// typing.
const maxTime = 2 * time.Minute

// A beginner follows a section of docs/start.md in an empty home directory.
type beginner struct {
	t    *testing.T
	home string
	dir  string
	env  []string
}

func newBeginner(t *testing.T) *beginner {
	t.Helper()
	npmServers.require(t)
	home := t.TempDir()
	b := &beginner{t: t, home: home, dir: filepath.Join(home, "work")}
	password := filepath.Join(home, "password")
	for path, text := range map[string]string{
		password: "correct horse battery staple",
		filepath.Join(home, ".config", "Claude",
			"claude_desktop_config.json"): `{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", ` +
			quoted(home) + `]}}}`,
		filepath.Join(home, ".cursor", "mcp.json"): `{"mcpServers": {}}`,
		filepath.Join(b.dir, "README.md"):          "# Work\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// npx runs a package that is installed above the working directory.
	if err := os.Symlink(npmServers.path("node_modules"), filepath.Join(home, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "JUNCTOR_") &&
			!strings.HasPrefix(name, "XDG_") && name != "PATH" {
			b.env = append(b.env, kv)
		}
	}
	b.env = append(b.env, "HOME="+home, "PATH="+filepath.Dir(program("junctor"))+":"+os.Getenv("PATH"),
		"XDG_RUNTIME_DIR="+t.TempDir(),
		"DBUS_SESSION_BUS_ADDRESS=", "JUNCTOR_SECRETS_PASSWORD_FILE="+password, workspaceVariable+"="+home,
		"BROWSER="+program("browser"), "DISPLAY=:0", "CI=", "NO_BROWSER=", "SSH_CONNECTION=", "SSH_TTY=",
		"JUNCTOR_CALLBACK_PORTS=0", "GIT_CONFIG_GLOBAL=/dev/null", "npm_config_update_notifier=false")
	return b
}

// shell runs a line, and returns what it prints with short paths.
func (b *beginner) shell(line string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = b.dir, b.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("$ %s\n%s%v", line, out, err)
	}
	return strings.NewReplacer(b.dir+"/", "", b.home+"/", "~/").Replace(string(out))
}

var (
	section = regexp.MustCompile("(?ms)^## (.*?)\n.*?```console\n(.*?)```")
	typed   = regexp.MustCompile(`(?m)^\$ (.*)$`)
)

// follow runs the commands of a section with other words in place of some, and compares what
// they print.
func (b *beginner) follow(title string, words ...string) {
	b.t.Helper()
	page, err := os.ReadFile(filepath.Join(repository, "docs", "start.md"))
	if err != nil {
		b.t.Fatal(err)
	}
	begun, commands := time.Now(), 0
	for _, m := range section.FindAllStringSubmatch(string(page), -1) {
		if m[1] != title {
			continue
		}
		said := ""
		for line := range strings.Lines(strings.NewReplacer(append(words, "$ junctor call",
			"$ junctor --text call")...).
			Replace(m[2])) {
			line = strings.TrimSuffix(line, "\n")
			if command := typed.FindStringSubmatch(line); command != nil {
				commands++
				said = b.shell(command[1])
				continue
			}
			want := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
			if !regexp.MustCompile("(?m)^" + want + "$").MatchString(said) {
				b.t.Errorf("not printed: %s\nprinted:\n%s", line, said)
			}
		}
	}
	took := time.Since(begun)
	if commands == 0 || commands > 3 || took > maxTime {
		b.t.Errorf("%q takes %d commands and %s (bar 3 commands, %s)", title, commands, took, maxTime)
	}
	b.t.Logf("%q: %d commands, %s", title, commands, took.Round(time.Millisecond))
}

// client calls a tool as the client whose file has the entry does, and returns the text of
// the result.
func (b *beginner) client(file, tool string, arguments map[string]any) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.home, file))
	if err != nil {
		b.t.Fatal(err)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	entry := "junctor"
	if err := json.Unmarshal(text, &config); err != nil || config.MCPServers[entry].Command == "" {
		b.t.Fatalf("%s has no entry %s: %v\n%s", file, entry, err, text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	cmd := exec.Command(config.MCPServers[entry].Command, config.MCPServers[entry].Args...)
	cmd.Dir, cmd.Env, cmd.Stderr = b.home, b.env, os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || result.IsError || len(result.Content) == 0 {
		b.t.Fatalf("%s: %+v, %v", tool, result, err)
	}
	content, _ := result.Content[0].(*mcp.TextContent)
	if content == nil {
		b.t.Fatalf("%s: %T is no text", tool, result.Content[0])
	}
	return content.Text
}

// TestStartPage follows each way of docs/start.md, from an empty home directory to a tool
// that a client calls.
func TestStartPage(t *testing.T) {
	t.Parallel()
	expect := func(t *testing.T, got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("the client got %q, want %q in it", got, want)
		}
	}
	t.Run("launcher", func(t *testing.T) {
		t.Parallel()
		b := newBeginner(t)
		b.follow("A server that npx, uvx or docker starts")
		expect(t, b.client(".cursor/mcp.json", "files__read_text_file",
			map[string]any{"path": filepath.Join(b.dir, "README.md")}), "# Work")
	})
	t.Run("login", func(t *testing.T) {
		t.Parallel()
		b, v := newBeginner(t), newAuthServer(t)
		b.follow("A remote server with a login", "https://mcp.linear.app/mcp", v.URL)
		expect(t, b.client(".cursor/mcp.json", "linear__whoami", map[string]any{}), "Bearer ")
	})
	t.Run("program", func(t *testing.T) {
		t.Parallel()
		b := newBeginner(t)
		b.shell("git init -q -b somewhere .")
		b.follow("A command-line program")
		expect(t, b.client(".cursor/mcp.json", "git__status", map[string]any{}), "somewhere")
	})
	t.Run("client", func(t *testing.T) {
		t.Parallel()
		b := newBeginner(t)
		// No terminal to ask at.
		b.follow("The servers that another client has", "--write --replace", "--write --replace --yes")
		expect(t, b.client(".config/Claude/claude_desktop_config.json", "files__read_text_file",
			map[string]any{"path": filepath.Join(b.dir, "README.md")}), "# Work")
	})
}
