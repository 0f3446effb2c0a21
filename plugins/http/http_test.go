package main

import (
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
	"github.com/junctor-mcp/junctor/plugins/internal/httpclienttest"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

func TestMain(m *testing.M) {
	streamTime, loseTime = 4*streamTime, 4*loseTime
	goleak.VerifyTestMain(m)
}

// httpCase checks the older transport, which can echo. Over streamable HTTP
// only requests get a response.
var httpCase = plugintest.Transport{
	Name:  "http",
	Apart: true,
	Peer: func(t testing.TB) plugintest.Peer {
		url, die := httpclienttest.EchoSSE(t)
		settings, err := json.Marshal(map[string]any{"url": url, "mode": "sse",
			"headers": map[string]string{"Authorization": plugintest.Canary}})
		if err != nil {
			t.Fatal(err)
		}
		return plugintest.Peer{Settings: string(settings), Die: die}
	},
	Hang: func(t testing.TB) string { return `{"mode":"sse","url":"` + httpclienttest.Silent(t) + `"}` },
	Refused: []plugintest.Refusal{
		{Settings: `{}`, Paths: []string{"url"}},
		{Settings: `{"url":"mcp.example.com"}`, Paths: []string{"url"}},
		{Settings: `{"url":"https://x/#frag"}`, Paths: []string{"url"}},
		{Settings: `{"url":"https://x:99999/"}`, Paths: []string{"url"}},
		{Settings: `{"url":"https://x:0/"}`, Paths: []string{"url"}},
		{Settings: `{"url":"https://x/","mode":"websocket","connect_timeout":"fast"}`,
			Paths: []string{"mode", "connect_timeout"}},
		{Settings: `{"url":"https://x/","tls":{"cert":"a.pem"}}`, Paths: []string{"tls.cert"}},
		{Settings: `{"url":"http://10.0.0.1/","headers":{"Cookie":"x"}}`, Paths: []string{"url"}},
		{Settings: `{"url":"https://x/","headers":{"":"x","mcp-session-id":"y","content-length":"3"}}`,
			Paths: []string{`headers[""]`, `headers["content-length"]`, `headers["mcp-session-id"]`}},
		{Settings: `{"url":"https://x/","headers":{"A":"1","a":"2"}}`, Paths: []string{`headers["a"]`}},
	},
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), httpCase) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), httpCase) }

// TestDocuments checks that CHANGELOG.md has the version and README.md every
// setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }
