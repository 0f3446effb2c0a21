package interoptest

import (
	"encoding/json"
	"strings"
	"testing"
)

// conversing are the servers with tools for notifications and cancellations,
// and the era of their clients in every run; empty: both eras, "none": only in make soak.
var conversing = map[string]struct {
	server  func(t *testing.T) server
	clients string
}{
	"gosdk":          {func(*testing.T) server { return gosdk() }, ""},
	"gosdk-legacy":   {func(*testing.T) server { return gosdk().pinned(latestLegacy) }, ""},
	"gosdk-http":     {gosdkOver("http", "/modern"), ""},
	"gosdk-sessions": {gosdkOver("http", "/mcp"), ""},
	"gosdk-sse":      {gosdkOver("sse", "/sse"), ""},

	"fastmcp":        {fastmcp, "modern"},
	"mcpserver":      {mcpserver, "legacy"},
	"fastmcp-http":   {pythonOver(fastmcp, "streamable-http"), "none"},
	"fastmcp-sse":    {pythonOver(fastmcp, "sse"), "none"},
	"mcpserver-http": {pythonOver(mcpserver, "streamable-http"), "modern"},
	"mcpserver-sse":  {pythonOver(mcpserver, "sse"), "legacy"},
	"typescript":     {typescript, "legacy"},
	"typescript-old": {func(t *testing.T) server { return typescript(t).pinned(latestLegacy) }, "modern"},
}

// converse runs a test with each of these servers, and clients of both eras.
func converse(t *testing.T, test func(t *testing.T, s server, d dialect)) {
	for name, c := range conversing {
		for era, d := range eras {
			t.Run(name+"/"+era, func(t *testing.T) {
				if c.clients != "" && c.clients != era {
					rarely(t)
				}
				t.Parallel()
				test(t, c.server(t), d)
			})
		}
	}
}

// TestFeatures checks progress, log messages and cancellations in one
// conversation.
func TestFeatures(t *testing.T) {
	converse(t, func(t *testing.T, s server, d dialect) {
		d.level = "warning"
		p := newWorkspace(t, s).serve().speak(d)
		p.initialize()
		p.waitForTools(s.name)
		p.checkLogging(s.name)
		// In order, with the client's token, and all before the result. The
		// last report is never omitted.
		for _, token := range []string{`"a \"token\""`, `0`, `9007199254740993`} {
			checkProgress(t, p, token, 40, object{"name": s.name + "__count", "arguments": object{"steps": 40}})
		}
		p.checkCancellation(s.name)
	})
}

func TestProgressOfEverything(t *testing.T) {
	for way, of := range everythings {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := newWorkspace(t, of(t)).serve().speak(oldDialect)
			p.initialize()
			checkProgress(t, p, `"every"`, 4, object{"name": long, "arguments": object{"duration": 0.4, "steps": 4}})
		})
	}
}

func checkProgress(t *testing.T, p *peer, token string, total float64, params object) {
	t.Helper()
	if last := heardProgress(t, p, token, total, params); last != total {
		t.Errorf("the last progress is %v, want %v", last, total)
	}
}

// heardProgress makes a call, checks its progress reports, and returns the last
// one.
func heardProgress(t *testing.T, p *peer, token string, total float64, params object) float64 {
	t.Helper()
	mark := p.mark()
	params["_meta"] = object{"progressToken": json.RawMessage(token)}
	answer := p.call("tools/call", params)
	answer.text(t)
	last := -1.0
	for _, m := range p.all("notifications/progress") {
		if m.at < mark || aboutStart(t, m.Params) {
			continue
		}
		var report struct {
			ProgressToken   json.RawMessage
			Progress, Total float64
		}
		decode(t, m.Params, &report)
		switch {
		case m.at > answer.at:
			t.Errorf("progress after the result: %s", m.raw)
		case string(report.ProgressToken) != token:
			t.Errorf("token %s, want %s", report.ProgressToken, token)
		case report.Progress <= last || report.Total != total:
			t.Errorf("progress %v of %v after %v", report.Progress, report.Total, last)
		}
		last = report.Progress
	}
	return last
}

// checkLogging checks that log messages at or above the client's level arrive.
func (p *peer) checkLogging(server string) {
	t, level := p.t, p.dialect.level
	t.Helper()
	if !p.dialect.modern() {
		p.call("logging/setLevel", object{"level": level}).into(t, &object{})
	}
	for _, level := range []string{"info", "warning", "debug", "critical"} {
		p.tool(server+"__speak", object{"level": level, "text": "this is " + level}).text(t)
	}
	for _, level := range []string{"warning", "critical"} {
		p.note(0, "notifications/message", func(params json.RawMessage) bool {
			var m struct{ Level, Data string }
			decode(t, params, &m)
			return m.Level == level && m.Data == "this is "+level
		})
	}
	for _, m := range p.all("notifications/message") {
		if strings.Contains(m.raw, "this is info") || strings.Contains(m.raw, "this is debug") {
			t.Errorf("below the level: %s", m.raw)
		}
	}
}

// checkCancellation checks that the server gets a cancellation, and that the
// connection works afterwards.
func (p *peer) checkCancellation(server string) {
	t := p.t
	t.Helper()
	for number := 1; number <= 2; number++ {
		mark := p.mark()
		id := p.begin("tools/call", object{
			"name": server + "__wait", "arguments": object{}, "_meta": object{"progressToken": number},
		})
		p.note(mark, "notifications/progress", nil)
		p.notify("notifications/cancelled", object{"requestId": json.RawMessage(id), "reason": "no longer wanted"})
		if got := p.tool(server+"__reach", object{"number": number}).text(t); got != encode(t, number) {
			t.Errorf("%s calls were cancelled, want %d", got, number)
		}
		p.unanswered(id)
	}
}

// TestLogMessagesBelongToARequest checks that a modern client gets the log
// messages of the server that answers its request, and of no other.
func TestLogMessagesBelongToARequest(t *testing.T) {
	t.Parallel()
	p := newWorkspace(t, fastmcp(t), gosdk()).serve().speak(newDialect)
	p.initialize()
	// This server logs without a request.
	speak := func() {
		t.Helper()
		p.tool("py1__speak", object{"level": "error", "text": "not for you"}).text(t)
	}
	speak()
	wait := p.begin("tools/call", object{
		"name": "go__wait", "arguments": object{}, "_meta": object{"progressToken": 1, metaLogLevel: "debug"},
	})
	p.note(0, "notifications/progress", nil)
	speak()
	for _, m := range p.all("notifications/message") {
		t.Errorf("a log message of a server without a log level: %s", m.raw)
	}
	p.notify("notifications/cancelled", object{"requestId": json.RawMessage(wait)})
}
