package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// harmlessLines are lines whose value a message may show in any place.
var harmlessLines = []string{
	`listen = "127.0.0.1:7575"`, `listen = ":80"`, `listen = "[::1]:7575"`, `bind = "localhost:1"`,
	`port = 7575`, `port = "7575"`,
	`timeout = "30s"`, `timeout = 30`, `idle = "5m"`, `interval = "500ms"`, `tool_timeout_sec = 601`,
	`concurrent = 2`, `rate = 60`, `burst = "120"`, `max_in_flight = 500`,
	`connections = 256`, `count = 3`, `retries = 4`,
	`wait = "0s"`, `drain = "5s"`, `max_memory = "512MiB"`, `max_body = "1 MB"`, `max_size = 1024`,
	`type = "stdio"`, `transport = "streamable-http"`,
	`enable = "yes"`, `disabled = "false"`,
	`mode = "hide"`, `level = "debug"`,
	`url = "https://mcp.example.com/mcp"`,
	`endpoint = "http://127.0.0.1:8080/api/v1/sse"`, `issuer = "https://id.example.com"`,
}

// doubtfulLines are lines whose value must stay masked where the place is unknown.
var doubtfulLines = []string{
	// Other names, and names of secrets.
	`password = "5s"`, `token = "127.0.0.1:7575"`,
	`api_key = "stdio"`, `pin = 7575`, `code = 123456`, `passcode = "1234"`, `pwd = "info"`,
	`value = "https://mcp.example.com/mcp"`, `header = "30s"`, `PORT = "7575"`, `port_password = 7575`,
	`listen_token = ":80"`, `my_url = "https://a.example/mcp"`,
	`webhook = "https://hooks.example.com/mcp"`,
	`command = "stdio"`, `args = "read"`, `user = "local"`, `name = "info"`, `secret = "true"`,
	// Other forms.
	`listen = "hunter2"`, `listen = "hunter2:7575"`, `listen = "127.0.0.1:7575 hunter2"`,
	`listen = "127.0.0.1:757575"`, `listen = "/run/hunter2.sock"`,
	`port = 123456`, `port = 75.75`, `port = "hunter2"`, `port = "0x7575"`,
	`timeout = "hunter2"`, `timeout = "30 hunter2"`, `timeout = "123456789"`, `timeout = "30s30s"`, `timeout = "-30s"`,
	`type = "hunter2"`, `type = "bearer hunter2"`, `transport = "Stdio1"`,
	`mode = "correcthorse"`, `level = "debug hunter2"`, `enable = "correct"`,
	`concurrent = 123456`, `rate = "hunter2"`, `burst = 1.5`, `count = "2 hunter2"`,
	`max_memory = "512hunter2"`, `wait = "hunter2"`, `max_size = 123456789`,
	// URLs with a part that may be secret.
	`url = "https://ada:hunter2@a.example/mcp"`, `url = "https://hunter2@a.example/mcp"`,
	`url = "https://a.example/mcp?key=hunter2"`, `url = "https://a.example/mcp#hunter2"`,
	`url = "https://a.example/s/hunter2/mcp"`, `url = "https://a.example/correcthorse"`,
	`url = "https://a.example/mcp/correcthorse/sse"`, `url = "https://a.example/v100"`,
	`url = "wss://a.example/mcp"`, `url = "https://A.EXAMPLE/mcp"`, `url = "a.example/mcp"`,
	`url = "hunter2"`, `url = "https://a.example/mcp hunter2"`, `url = "https://a.example//hunter2"`,
	`url = "https://a.example/mcp/%68unter2"`,
	`url = "https://a.example/mcp;hunter2"`, `url = "postgres://a.example/mcp"`,
	// Parts of a value, and other shapes.
	`listen = ["127.0.0.1:7575"]`, `listen = "${"127.0.0.1:7575"}x"`, `timeout = "30s${"hunter2"}"`,
	`port = [7575]`, `a.port = 7575`, `url = x("https://a.example/mcp")`,
}

// TestOnlyHarmlessValuesAreShownInUnknownPlaces: where an attribute is unknown, and in a file with
// a syntax error, snippets show values that cannot be secret and no other.
func TestOnlyHarmlessValuesAreShownInUnknownPlaces(t *testing.T) {
	for _, place := range []struct{ name, file string }{
		{"a block on one line", "gateway {\n  http { %s wrong = 1 }\n}\n"},
		{"an unknown block", "nothing {\n  unknown { %s }\n}\n"},
		{"a syntax error", "gateway {\n  %s %%\n}\n"},
	} {
		for shown, lines := range map[bool][]string{true: harmlessLines, false: doubtfulLines} {
			for _, line := range lines {
				got := snippetOf(t, fmt.Sprintf(place.file, line), line)
				_, value, _ := strings.Cut(line, "= ")
				if strings.Contains(got, value) != shown {
					t.Errorf("%s: %s is shown as %s", place.name, line, got)
				}
			}
		}
	}
}

// TestDigitsOfAnUnquotedTextAreMasked: a number in front of letters may begin a password.
func TestDigitsOfAnUnquotedTextAreMasked(t *testing.T) {
	for _, line := range []string{`timeout = 30hunter2`, `port = 7575hunter2`, `timeout = 30.5hunter`} {
		if got := snippetOf(t, "gateway {\n  "+line+"\n}\n", line); strings.Contains(got, "30") ||
			strings.Contains(got, "75") {
			t.Errorf("%s is shown as %s", line, got)
		}
	}
}

// TestStrayLabels: the label of a block without labels is shown if it is a plain word.
func TestStrayLabels(t *testing.T) {
	for line, shown := range map[string]bool{
		`notify "webhook" {`: true, `gateway "main" {`: true, `policy "default" {`: true,
		`notify "https://hooks.example.com/T/B/x" {`: false, `notify "hunter2" {`: false, `notify "Secret" {`: false,
		`token "webhook" {`: false, `password "main" {`: false,
		`locals "webhook" {`: false, `notify "two words" {`: false,
	} {
		got := snippetOf(t, line+"\n  x = 1\n}\n", line)
		if _, label, _ := strings.Cut(line, " "); strings.Contains(got, label) != shown {
			t.Errorf("%s is shown as %s", line, got)
		}
	}
}

// TestHarmlessTextsStaySecretElsewhere: a text that is shown in one place is masked in messages
// about a place where it is a secret.
func TestHarmlessTextsStaySecretElsewhere(t *testing.T) {
	s := lexed("a {\n  timeout = \"3000s\"\n  password = \"3000s\"\n}\n")
	if got := NewSet(known).redactQuotes(s, `unexpected "3000s"`); got != `unexpected "***"` {
		t.Errorf("the message is %s", got)
	}
}

// snippetOf returns the snippet of a line in a text that was not decoded.
func snippetOf(t *testing.T, text, line string) string {
	t.Helper()
	s := lexed(text)
	at := strings.Index(text, line)
	if at < 0 {
		t.Fatalf("%q is not in %q", line, text)
	}
	got, _, _ := s.snippet(hcl.Range{Filename: s.Name, Start: hcl.Pos{Byte: at}, End: hcl.Pos{Byte: at + len(line)}})
	return got
}

// lexed returns a source of which nothing was decoded.
func lexed(text string) *File {
	tokens, _ := hclsyntax.LexConfig([]byte(text), "a.hcl", hcl.InitialPos)
	return &File{Name: "a.hcl", Text: []byte(text), Tokens: tokens, words: &known}
}

// known are words of a small language.
var known = Words{
	Blocks:     func() map[string]bool { return map[string]bool{"gateway": true, "http": true} },
	Messages:   func() map[string]bool { return nil },
	IsFunction: func(string) bool { return false },
	EnvName:    lazyregexp.New(`^[A-Z_]+$`),
	SecretName: lazyregexp.New(`^[a-z]+$`),
}
