package clientimport

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// imported converts servers of a JSON file, and returns the blocks without line breaks and
// spaces that align, and the notes.
func imported(t *testing.T, client, servers string, in Environment) (blocks, notes string, secrets []Secret) {
	t.Helper()
	file, err := clientconfig.ReadContent([]byte(`{"mcpServers": {`+servers+`}}`), clientconfig.Find(client))
	if err != nil {
		t.Fatalf("%s: %v", servers, err)
	}
	for i := range file.Servers {
		file.Servers[i].Base = "/c/dir"
	}
	got := Convert(file, in)
	return strings.Join(strings.Fields(string(got.HCL)), " "), strings.Join(got.Notes, "\n"), got.Secrets
}

// TestReferences: what each form of a reference becomes in an argument, and that none is
// stored as a secret behind the name of one.
func TestReferences(t *testing.T) {
	for _, c := range []struct{ text, want, note string }{
		{"${X}", `env("X")`, ""},
		{"$X", `env("X")`, ""},
		{"$env:X", `env("X")`, ""},
		{"Bearer $env:X", `"Bearer ${env("X")}"`, ""},
		{"${X:-d}", `env("X", "d")`, ""},
		{"${env:X}", `env("X")`, ""},
		{"${env:X:-d}", `env("X", "d")`, ""},
		{"{env:X}", `env("X")`, ""},
		{"a${X}b", `"a${env("X")}b"`, ""},
		{"${input:x}", `env("X")`, "x is asked for"},
		{"${userHome}/x", `"${env("HOME")}/x"`, ""},
		{"{file:/k}", `trimspace(file("/k"))`, ""},
		{"${file:/k}", `trimspace(file("/k"))`, ""},
		{"${file:./k}", `trimspace(file("/c/dir/k"))`, ""},
		{"{file:~/k}", `trimspace(file("${env("HOME")}/k"))`, ""},
		{"${workspaceFolder}/x", `"./x"`, "${workspaceFolder} became the directory"},
		{"${CLAUDE_PROJECT_DIR:-.}/x", `"./x"`, "became the directory"},
		{"${/}", `"/"`, ""},
		{"a${pathSeparator}b", `"a/b"`, ""},
		{"${extensionPath}${/}x", `"/c/dir/x"`, ""},
		{"${CLAUDE_PLUGIN_ROOT}/x", `"/c/dir/x"`, ""},
		{"${workspaceFolder:api}/x", `"$${workspaceFolder:api}/x"`,
			`args.1 refers to something that is not followed here: "${workspaceFolder:api}"`},
		{"${workspaceFolderBasename}", `"$${workspaceFolderBasename}"`, "not followed"},
		{"${config:a.b}", `"$${config:a.b}"`, "not followed"},
		{"${command:a.b}", `"$${command:a.b}"`, "not followed"},
		{"${cmd:gh auth token}", `"$${cmd:gh auth token}"`, "not followed"},
		{"$(gh auth token)", `"$(gh auth token)"`, "not followed"},
		{"${user_config.key}", `"$${user_config.key}"`, "not followed"},
		{"${X:?unset}", `"$${X:?unset}"`, "not followed"},
		{"${{ github.token }}", `"$${{ github.token }}"`, "not followed"},
		{"${{ secrets.X }}", `env("R_X")`, ""},
		{"op://v/i/f", `"op://v/i/f"`, "not followed"},
		{"vault://v/i", `"vault://v/i"`, "not followed"},
		{"<DIRECTORY>", `"<DIRECTORY>"`, "args.1 is a placeholder"},
		{"a < b > c", `"a < b > c"`, ""},
		{"https://op.example/x", `"https://op.example/x"`, ""},
		{"$", `"$"`, ""},
		{"${}", `"$${}"`, ""},
	} {
		for _, kind := range []string{`"command": "x", "args": [%q]`,
			`"command": "x", "env": {"API_KEY": %q}`, `"url": "https://h.example", "headers": {"X-Api-Key": %q}`} {
			blocks, notes, secrets := imported(t, "", fmt.Sprintf(`"r": {`+kind+`}`, c.text), Environment{})
			if strings.Contains(kind, "args") {
				if !strings.Contains(blocks, `["x", `+c.want+`]`) || !strings.Contains(notes, c.note) ||
					c.note == "" && notes != "" {
					t.Errorf("%s: want %s and %q\n%s\n%s", c.text, c.want, c.note, blocks, notes)
				}
				if stays := strings.Contains(c.note, "not followed") ||
					strings.Contains(c.note, "placeholder"); stays != strings.Contains(blocks, "enabled = false") {
					t.Errorf("%s: enabled\n%s", c.text, blocks)
				}
			}
			for _, s := range secrets {
				if s.Value != "" && c.text != "a < b > c" && c.text != "$" && c.text != "${}" {
					t.Errorf("%s: %s is stored as %q", kind, s.Name, s.Value)
				}
			}
		}
	}
}

// TestSecretsBesideReferences: what stands beside a reference in the value of a secret's name is left
// out, unless it is short, a scheme, an address or a placeholder.
func TestSecretsBesideReferences(t *testing.T) {
	for value, want := range map[string]string{
		"half0f8key${X}":         `"${keyring("a-api-token")}${env("X")}"`,
		"${X}half0f8key":         `"${env("X")}${keyring("a-api-token")}"`,
		"${X}middle98${Y}":       `"${env("X")}${keyring("a-api-token")}${env("Y")}"`,
		"first987${X}second98":   `"${keyring("a-api-token")}${env("X")}${keyring("a-api-token-2")}"`,
		"Bearer half0f8key${X}":  `"Bearer ${keyring("a-authorization")}${env("X")}"`,
		"Bearer ${X}":            `"Bearer ${env("X")}"`,
		"sk-${X}":                `"sk-${env("X")}"`,
		"https://h.example/${X}": `"https://h.example/${env("X")}"`,
		"${X}":                   `env("X")`,
	} {
		blocks, _, _ := imported(t, "", fmt.Sprintf(`"a": {"command": "c", "env": {"API_TOKEN": %q}}`, value),
			Environment{})
		if !strings.Contains(blocks, "API_TOKEN = "+want) {
			t.Errorf("%s: want %s in %s", value, want, blocks)
		}
		args := fmt.Sprintf(`"a": {"command": "c", "args": ["--api-token", %q, "--api-token=%s"]}`, value, value)
		blocks, _, _ = imported(t, "", args, Environment{})
		for _, part := range []string{"half0f8key", "middle98", "first987", "second98"} {
			if strings.Contains(blocks, part) {
				t.Errorf("%s: the arguments have it: %s", value, blocks)
			}
		}
	}
}

// TestScriptsKeepWhatFollowsReferences: a word of a script is no secret because it follows a reference
// in the value of a secret's name.
func TestScriptsKeepWhatFollowsReferences(t *testing.T) {
	for _, script := range []string{
		"export TOKEN=${X} && ./run-the-server", "TOKEN=${X} ./run-the-server", "TOKEN=${X};./run-the-server --verbose",
		"curl -H token=${X} https://h.example/run-the-server",
	} {
		server := fmt.Sprintf(`"a": {"command": "sh", "args": ["-c", %q]}`, script)
		blocks, _, _ := imported(t, "", server, Environment{})
		if !strings.Contains(blocks, "run-the-server") {
			t.Errorf("%s: %s", script, blocks)
		}
	}
}

// TestPlaceholders: what examples have in the place of a secret is asked for.
func TestPlaceholders(t *testing.T) {
	for text, is := range map[string]bool{
		"<YOUR_API_KEY>": true, "<your key>": true, "your-api-key": true, "YOUR_API_KEY_HERE": true,
		"{{API_KEY}}": true, "{API_KEY}": true, "%API_KEY%": true,
		"[your token]": true, "xxxxxxxx": true, "...": true, "***": true, "sk-...": true, "ghp_xxxx": true,
		"changeme": true, "insert your token here": true, "replace_me": true, "Bearer <token>": true,
		"hunter2": false, "your-mother-was-a-hamster": false, "add-more-salt-99": false,
		"<a>b<c>": false, "x1x2": false, `{"a": "b"}`: false,
	} {
		_, notes, secrets := imported(t, "",
			fmt.Sprintf(`"r": {"command": "x", "env": {"API_KEY": %q}}`, text), Environment{})
		if len(secrets) != 1 || (secrets[0].Value == "") != is || is != strings.Contains(notes, "placeholder") {
			t.Errorf("%s: %+v %s", text, secrets, notes)
		}
	}
}

// TestExamples: a value of an example that is no secret stays, and its server is disabled.
func TestExamples(t *testing.T) {
	for text, is := range map[string]bool{
		"your-team-id": true, "YOUR_PROJECT_ID": true, "your profile name": true, "your-region-here": true,
		"us-east-1": false, "yourteam": false, "your-mother-was-a-hamster": false, "my-team-id": false,
	} {
		for _, entry := range []string{`"command": "x", "env": {"TEAM": %q}`,
			`"command": "x", "args": [%q]`, `"url": "https://h.example", "headers": {"X-Team": %q}`} {
			blocks, notes, _ := imported(t, "", fmt.Sprintf(`"r": {`+entry+`}`, text), Environment{})
			if !strings.Contains(blocks, text) || is != strings.Contains(blocks, "enabled = false") ||
				is != strings.Contains(notes, "is a placeholder") {
				t.Errorf("%s in %s:\n%s\n%s", text, entry, blocks, notes)
			}
		}
	}
}

// TestSecretsInTexts: secrets inside longer texts and behind references do not stay in the
// blocks, and the rest of the text does.
func TestSecretsInTexts(t *testing.T) {
	const s = "sekret12345"
	for _, c := range []struct{ entry, want string }{
		{`"command": "docker", "args": ["run", "--env=API_KEY=sekret12345", "i"]`,
			`"--env=API_KEY=${env("R_API_KEY")}"`},
		{`"command": "docker", "args": ["run", "-e", "API_KEY=sekret12345", "i"]`, `"API_KEY=${env("R_API_KEY")}"`},
		{`"command": "sh", "args": ["-c", "API_KEY=sekret12345 npx x"]`, `"API_KEY=${env("R_API_KEY")} npx x"`},
		{`"command": "sh", "args": ["-c", "export API_KEY='sekret12345'; x"]`,
			`"export API_KEY='${env("R_API_KEY")}'; x"`},
		{`"command": "bash", "args": ["-lc", "npx x --api-key sekret12345"]`, `--api-key ${env("R_API_KEY")}"`},
		{`"command": "cmd", "args": ["/c", "set API_KEY=sekret12345&& npx x"]`,
			`"set API_KEY=${env("R_API_KEY")}&& npx x"`},
		{`"command": "x", "args": ["--config", "\"{\\\"apiKey\\\":\\\"sekret12345\\\"}\""]`, `${env("R_APIKEY")}`},
		{`"command": "x", "args": ["{\"a\": {\"password\": \"sekret12345\"}}"]`,
			`{\"a\": {\"password\": \"${env("R_PASSWORD")}\"}}`},
		{`"command": "x", "args": ["--dsn=postgres://u:sekret12345@h/d"]`, `${env("R_DSN")}`},
		{`"command": "x", "args": ["postgres://u:sekret12345@${H}/d"]`,
			`"postgres://u:${env("R_PASSWORD")}@${env("H")}/d"`},
		{`"command": "x", "env": {"DB": "postgres://u:sekret12345@${H:-h}/d"}`,
			`"postgres://u:${keyring("r-password")}@${env("H", "h")}/d"`},
		{`"command": "x", "env": {"DB": "Server=${H};Password=sekret12345;X=1"}`,
			`"Server=${env("H")};Password=${keyring("r-password")};X=1"`},
		{`"command": "x", "env": {"API_KEY": "${API_KEY:-sekret12345}"}`, `API_KEY = keyring("r-api-key")`},
		{`"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${T:-sekret12345}"}`, `keyring("r-`},
		{`"url": "https://h.example/mcp", "headers": {"X-Api-Key": "${T:-sekret12345}"}`, `keyring("r-`},
		{`"command": "x", "args": ["--token", "${T:-sekret12345}"]`, `["x", "--token", env("R_`},
		{`"command": "x", "args": ["--token=${T:-sekret12345}"]`, `"--token=${env("R_`},
		{`"command": "x", "args": ["--api-key=${env:T:-sekret12345}"]`, `"--api-key=${env("R_`},
		{`"url": "https://h.example/?api_key=${T:-sekret12345}"`, `?api_key=${env("R_`},
		{`"command": "x", "args": ["postgres://u:${T:-sekret12345}@h/db"]`, `"postgres://u:${env("R_`},
		{`"command": "sh", "args": ["-c", "TOKEN=${T:-sekret12345} x"]`, `"TOKEN=${env("R_`},
		{`"command": "docker", "args": ["run", "-e", "TOKEN=${T:-sekret12345}", "i"]`, `"TOKEN=${env("R_`},
		{`"command": "x", "env": {"FOO": "-----BEGIN PRIVATE KEY-----\nsekret12345\n-----END PRIVATE KEY-----\n"}`,
			`keyring("r-`},
		{`"command": "x", "env": {"FOO": "a -----BEGIN RSA PRIVATE KEY-----\\nsekret12345"}`, `FOO = keyring("r-`},
		{`"command": "x", "args": ["--key-data", "-----BEGIN EC PRIVATE KEY-----\nsekret12345"]`, `env("R_`},
		{`"command": "x", "args": ["--header", "X-Api-Key: sekret12345"]`, `${env("R_X_API_KEY")}`},
		{`"url": "https://h.example/mcp?token=sekret12345&t=${T:-a}"`, `?token=${env("R_TOKEN")}&t=${env("T", "a")}"`},
		{`"url": "https://u:sekret12345@h.example/mcp"`, `"https://u:${env("R_PASSWORD")}@h.example/mcp"`},
		{`"url": "https://u:sekret12345@${H}/mcp"`, `"https://u:${env("R_PASSWORD")}@${env("H")}/mcp"`},
		{`"url": "https://sekret12345@h.example/mcp"`, `"https://${env("R_TOKEN")}@h.example/mcp"`},
		{`"url": "https://h.example/mcp", "headers": {"X-Config": "{\"token\": \"sekret12345\", \"host\": \"${H}\"}"}`,
			`"{\"token\": \"${keyring("r-token")}\", \"host\": \"${env("H")}\"}"`},
		{`"url": "https://h.example/mcp", "headersHelper": "print --token sekret12345"`,
			`--token ${env("R_TOKEN")} ) && printf`},
	} {
		blocks, notes, _ := imported(t, "", `"r": {`+c.entry+`}`, Environment{})
		if !strings.Contains(blocks, c.want) || strings.Contains(blocks+notes, s) {
			t.Errorf("%s: want %s\n%s\n%s", c.entry, c.want, blocks, notes)
		}
	}
}

// TestNoSecrets: texts that have no secret stay.
func TestNoSecrets(t *testing.T) {
	for _, text := range []string{
		"--key-file=/etc/key.pem", "--token-limit=4096", "--auth=true", "--user=1000:1000", "NODE_ENV=production",
		"--header", "Accept: text/html", "--tokenizer", "https://h.example/auth/login", "monkey=banana split",
		"--no-auth", "postgres://u@h/d", "http://localhost:8080/token", "C:\\Users\\key\\x.exe", "{\"a\": 1}", "a=b=c",
	} {
		blocks, _, secrets := imported(t, "", fmt.Sprintf(`"r": {"command": "x", "args": [%q]}`, text), Environment{})
		if len(secrets) > 0 && text != "monkey=banana split" {
			t.Errorf("%s: %+v\n%s", text, secrets, blocks)
		}
	}
}

// TestOwnVariables: a reference to a variable that the program has from env, or that its shell
// or mcp-remote reads, is left to the program.
func TestOwnVariables(t *testing.T) {
	unset := Environment{IsSet: func(string) bool { return false }}
	for _, c := range []struct {
		entry, want string
		enabled     bool
	}{
		{`"command": "npx", "args": ["mcp-remote", "https://h.example/mcp", "--header", "Authorization:${A}"], "env": {"A": "Bearer v"}`,
			`"Authorization:$${A}"`, true},
		{`"command": "npx", "args": ["-y", "mcp-remote@latest", "--header", "Authorization:${A}"], "env": {"A": "${A}"}`,
			`"Authorization:$${A}"`, false},
		{`"command": "npx", "args": ["mcp-remote", "--header", "Authorization:${A}"]`, `pass_env = ["A"]`, false},
		{`"command": "x", "args": ["--a", "${A}"], "env": {"A": "v"}`, `"$${A}"`, true},
		{`"command": "x", "args": ["--a", "${A}"], "env": {"A": "${A}"}`, `env("A")]`, false},
		{`"command": "x", "args": ["--a", "${A}"]`, `env("A")]`, false},
		{`"command": "sh", "args": ["-c", ". ./.env; exec server --token ${TOKEN}"]`,
			`--token $${TOKEN}"] pass_env = ["TOKEN"]`, true},
		{`"command": "/bin/bash", "args": ["-lc", "TOKEN=$(cat f); x ${TOKEN} ${HOME}"]`,
			`x $${TOKEN} $${HOME}"] }`, true},
		{`"command": "sh", "args": ["-c", "x ${A:-b} ${A##*/} ${#A}"]`, `$${A:-b} $${A##*/} $${#A}`, true},
		{`"command": "docker", "args": ["run", "i", "sh", "-c", "x ${A}"]`, `env("A")`, false},
		{`"command": "op", "args": ["run", "--", "x"], "env": {"API_KEY": "op://v/i/f"}`,
			`API_KEY = "op://v/i/f"`, true},
	} {
		blocks, notes, _ := imported(t, "", `"r": {`+c.entry+`}`, unset)
		if !strings.Contains(blocks, c.want) || c.enabled == strings.Contains(blocks, "enabled = false") {
			t.Errorf("%s: want %s, enabled %t\n%s\n%s", c.entry, c.want, c.enabled, blocks, notes)
		}
	}
}

// TestMissingFiles: a file that does not exist disables its server.
func TestMissingFiles(t *testing.T) {
	in := Environment{
		IsFile: func(path string) bool { return path == "/c/dir/k" || path == "~/k" || path == "/c/.env" }, Into: "/c",
	}
	for entry, want := range map[string]string{
		`"env": {"K": "{file:./k}"}`:                  `file("dir/k")`,
		`"env": {"K": "{file:~/k}"}`:                  `file("${env("HOME")}/k")`,
		`"env": {"K": "{file:./none}"}`:               `enabled = false`,
		`"env": {"K": "{file:~/none}"}`:               `enabled = false`,
		`"envFile": "${workspaceFolder}/.env"`:        `file("./.env")`,
		`"envFile": "${workspaceFolder}/none"`:        `enabled = false`,
		`"args": ["{file:/none}"], "disabled": false`: `enabled = false`,
	} {
		blocks, notes, _ := imported(t, "opencode", `"r": {"command": "x", `+entry+`}`, in)
		if !strings.Contains(blocks, want) ||
			strings.Contains(blocks, "enabled = false") != strings.Contains(notes, "create the file") {
			t.Errorf("%s: want %s\n%s\n%s", entry, want, blocks, notes)
		}
	}
}

// TestNames: names that no server can have here become others, each its own.
func TestNames(t *testing.T) {
	for _, c := range []struct{ servers, taken, want string }{
		{`"高德地图": 1, "数据库": 1`, "", "server server-2"},
		{`"My Server": 1, "My-Server": 1`, "", "My-Server-2 My-Server"},
		{`"a b": 1, "a.b": 1, "a-b-2": 1`, "", "a-b a-b-3 a-b-2"},
		{`"a__b": 1, "c_": 1, "-x-": 1, "1": 1`, "", "a_b c x server-1"},
		{`"` + strings.Repeat("a", 41) + `": 1, "` + strings.Repeat("a", 42) + `": 1`,
			"", strings.Repeat("a", 40) + " " + strings.Repeat("a", 38) + "-2"},
		{`"a b": 1, "c": 1`, "a-b", "c"},
	} {
		file, err := clientconfig.ReadContent(
			[]byte(`{"mcpServers": {`+strings.ReplaceAll(c.servers, ": 1", `: {"command": "x"}`)+`}}`), nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		got := Convert(file, Environment{Taken: strings.Fields(c.taken)})
		if strings.Join(got.Servers, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.servers, got.Servers, c.want)
		}
		for _, name := range got.Servers {
			if !ValidName(name) {
				t.Errorf("%q is not valid", name)
			}
		}
	}
}

// TestScriptsOfShells: what looks like a reference within a script of PowerShell is its own.
func TestScriptsOfShells(t *testing.T) {
	for _, script := range []string{`$env:X='y'; z`, `$env:X = 1; z $env:X`, `z $env:X`} {
		text, err := json.Marshal(map[string]any{
			"mcpServers": map[string]any{"r": map[string]any{"command": "pwsh", "args": []string{"-c", script}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		file, err := clientconfig.ReadContent(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Convert(file, Environment{}).HCL); !strings.Contains(got, script) {
			t.Errorf("%s became\n%s", script, got)
		}
	}
}
