package launcher

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @scope/server .":               "npx",
		"/usr/local/bin/npx server":            "npx",
		`C:\Program|Files\nodejs\npx.cmd -y s`: "npx",
		"NPX.CMD -y s":                         "npx",
		"env A=b npx s":                        "npx",
		"cmd /c npx -y s":                      "npx",
		"cmd.exe /C npx -y s":                  "npx",
		"sh -c exec|npx|-y|s":                  "npx",
		"bash -lc A=b|uvx|s":                   "uvx",
		"uvx mcp-server-time":                  "uvx",
		"uv tool run s":                        "uv tool run",
		"uv --quiet run server.py":             "uv run",
		"pipx run s":                           "pipx run",
		"docker run -i --rm image":             "docker run",
		"podman run image":                     "podman run",
		"docker compose run s":                 "docker compose run",
		"go run ./cmd/server":                  "go run",
		"bunx s":                               "bunx",
		"bun x s":                              "bun x",
		"npm exec -- s":                        "npm exec",
		"yarn dlx s":                           "yarn dlx",
		"pnpm dlx s":                           "pnpm dlx",
		"deno run npm:s":                       "deno run",
		"npx s --offline":                      "npx", // a flag of the server
		"npx --offline s":                      "",
		"npx --no-install s":                   "",
		"docker run --pull=never image":        "",
		"docker exec -i container s":           "",
		"pipx list":                            "",
		"uv sync":                              "",
		"go version":                           "",
		"npm start":                            "",
		"node server.js npx":                   "",
		"python -m server":                     "",
		"./npx-server":                         "",
		"env":                                  "",
		"env A=b":                              "",
		"sh -c":                                "",
		"sh -c node|npx":                       "",
		"sh script.sh npx":                     "",
		"cmd /c":                               "",
		"":                                     "",
	} {
		var words []string
		for _, w := range strings.Fields(command) {
			words = append(words, strings.ReplaceAll(w, "|", " "))
		}
		if got := Of(words); got != want {
			t.Errorf("Of(%q) = %q, want %q", command, got, want)
		}
	}
	if got := Of([]string{"", "npx"}); got != "" {
		t.Errorf("Of with an empty program name = %q", got)
	}
}

func TestDiagnose(t *testing.T) {
	const entry = "/users/u/.npm/_npx/15b07286cbcc3329"
	for _, c := range []struct {
		name, launcher string
		stderr         []string
		meaning, hint  string // substrings; empty if the cause is unknown
	}{
		{"module missing", "npx", []string{
			"node:internal/modules/esm/resolve:283", "    throw new ERR_MODULE_NOT_FOUND(",
			"Error [ERR_MODULE_NOT_FOUND]: Cannot find module '" + entry +
				"/node_modules/zod/index.js' imported from " + entry + "/node_modules/x/dist/index.js",
		}, entry, "`rm -rf " + entry + "`"},
		{"package missing", "npm exec", []string{
			"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from " + entry +
				"/node_modules/x/dist/index.js",
		}, entry, "`rm -rf " + entry + "`"},
		{"module missing, as a URL", "npx", []string{
			"Error: Cannot find module 'file://" + entry + "/node_modules/zod/index.js'",
		}, entry, "`rm -rf " + entry + "`"},
		{"cannot rename", "npx", []string{
			"npm error code ENOTEMPTY", "npm error syscall rename", "npm error path " + entry + "/node_modules/zod",
			"npm error dest " + entry + "/node_modules/.zod-x",
		}, "ENOTEMPTY", "`rm -rf " + entry + "`"},
		{"an older npm",
			"npx", []string{"npm ERR! code EEXIST", "npm ERR! path " + entry + "/package.json"}, "EEXIST", entry},
		{"a directory with a space", "npx", []string{
			"npm error code ENOTEMPTY", "npm error path /Users/J Doe/.npm/_npx/15b07286cbcc3329/node_modules/zod",
		}, "J Doe", "`rm -rf '/Users/J Doe/.npm/_npx/15b07286cbcc3329'`"},
		{"lock taken away", "npx", []string{"npm error code ECOMPROMISED", "npm error Lock compromised"},
			"ECOMPROMISED", "npm config get cache"},
		{"lock warning", "npx", []string{"npm warn exec could not lock " + entry + "/concurrency.lock"}, "lock", entry},
		{"program missing", "npx", []string{"sh: 1: mcp-server-everything: not found"}, "did not find the program",
			"npm config get cache"},
		{"content cache", "npx", []string{"npm error code EEXIST", "npm error path /users/u/.npm/_cacache/tmp/ab"},
			"EEXIST", "npm cache verify"},
		{"uv lock", "uvx", []string{
			"error: Failed to acquire lock", "  Caused by: Timeout (300s) when waiting for lock on `/users/u/.cache/uv/.lock` at `/users/u/.cache/uv/.lock`",
		}, "/users/u/.cache/uv is locked", "`uv cache clean`"},
		{"uv cache", "uv tool run", []string{
			"error: Failed to install: x.whl",
			"  Caused by: failed to read from file `/users/u/.cache/uv/archive-v0/ab/METADATA`: No such file",
		}, "/users/u/.cache/uv may be broken", "`uv cache clean`"},

		{"the server's own module", "npx",
			[]string{"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/app/index.js"},
			"", ""},
		{"not a launcher", "", []string{"npm error code ENOTEMPTY", "npm error path " + entry}, "", ""},
		{"no such package", "npx", []string{"npm error code E404", "npm error 404 Not Found - GET x"}, "", ""},
		{"package.json lost",
			"npx", []string{"npm error code ENOENT", "npm error path " + entry + "/package.json"}, "ENOENT", entry},
		{"no package.json of the user's",
			"npm exec", []string{"npm error code ENOENT", "npm error path /srv/app/package.json"}, "", ""},
		{"no network", "npx", []string{"npm error code ENOTFOUND", "npm error network request failed"}, "", ""},
		{"nothing", "npx", nil, "", ""},
		{"uv has no such package", "uvx", []string{"  × No solution found when resolving tool dependencies:"}, "", ""},
		{"path with dot-dot",
			"npx", []string{"npm error code EEXIST", "npm error path /x/_npx/../_npx/15b07286cbcc3329"},
			"EEXIST", "npm config get cache"},
		{"path with a space after the root", "npx",
			[]string{"npm error code EEXIST", "npm error path / _npx/15b07286cbcc3329"}, "EEXIST",
			"npm config get cache"},
		{"another hash", "npx", []string{"npm error code EEXIST", "npm error path /users/u/_npx/precious"}, "EEXIST",
			"npm config get cache"},
		{"backquotes in a path", "npx", []string{"npm error code EEXIST", "npm error path /a`x`/_npx/15b07286cbcc3329"},
			"EEXIST", "`rm -rf '/a`x`/_npx/15b07286cbcc3329'`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			meaning, hint := Diagnose(c.launcher, c.stderr)
			if (meaning == "") != (c.meaning == "") || (hint == "") != (c.hint == "") ||
				!strings.Contains(meaning, c.meaning) || !strings.Contains(hint, c.hint) {
				t.Errorf("meaning %q, want %q\nhint %q, want %q", meaning, c.meaning, hint, c.hint)
			}
		})
	}
}
