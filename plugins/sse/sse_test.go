package main

import (
	"encoding/json"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
	"github.com/junctor-mcp/junctor/plugins/internal/httpclienttest"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

var sseCase = plugintest.Transport{
	Name:  "sse",
	Apart: true,
	Peer: func(t testing.TB) plugintest.Peer {
		url, die := httpclienttest.EchoSSE(t)
		settings, err := json.Marshal(map[string]any{"url": url,
			"headers": map[string]string{"Authorization": plugintest.Canary}})
		if err != nil {
			t.Fatal(err)
		}
		return plugintest.Peer{Settings: string(settings), Die: die}
	},
	Hang: func(t testing.TB) string { return `{"url":"` + httpclienttest.Silent(t) + `"}` },
	Refused: []plugintest.Refusal{
		{Settings: `{}`, Paths: []string{"url"}},
		{Settings: `{"url":"ftp://x/"}`, Paths: []string{"url"}},
		{Settings: `{"url":"https://u:p@x/"}`, Paths: []string{"url"}},
		{Settings: `{"url":"http:///sse"}`, Paths: []string{"url"}},
		{Settings: `{"url":"http://example.com/sse","headers":{"Authorization":"x"}}`, Paths: []string{"url"}},
		{Settings: `{"url":"https://x/","headers":{"a b":"x","Host":"y","X":"a\nb","Mcp-Param-X":"z"}}`,
			Paths: []string{`headers["Host"]`, `headers["Mcp-Param-X"]`, `headers["X"]`, `headers["a b"]`}},
	},
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), sseCase) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), sseCase) }

// TestDocuments checks that CHANGELOG.md has the version and README.md every
// setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }
