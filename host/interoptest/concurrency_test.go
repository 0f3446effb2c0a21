package interoptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// silent returns a server that reads nothing and prints text.
func silent(name string) server {
	return server{
		name: name, command: []string{"sh", "-c", "echo welcome; echo I listen on port 80 >&2; exec sleep 600"},
		more: "  timeouts {\n    start = \"2s\"\n  }\n",
	}
}

// missing returns a server whose program does not exist.
func missing(name string) server {
	return server{name: name, command: []string{"/no/such/program"}}
}

// dying returns a server that prints an error and exits.
func dying(name string) server {
	return server{name: name, command: []string{"sh", "-c", "echo the licence has expired >&2; exit 7"}}
}

// TestBadServersDoNotAffectOthers has one server hang, one without a program,
// and one that exits. The others must work.
func TestBadServersDoNotAffectOthers(t *testing.T) {
	t.Parallel()
	s := newWorkspace(t, silent("hangs"), gosdk(), missing("gone"), everything(t), dying("dies"))

	t.Run("status", func(t *testing.T) {
		// The first server in the configuration decides: it timed out.
		list := s.run("status").exits(6).servers()
		for i, want := range []struct{ code, message string }{
			{"upstream.start_timeout", "1 line on its standard output was not a message"}, {},
			{"upstream.command_not_found", "/no/such/program"}, {}, {"upstream.exited", "7"},
		} {
			if st := list[i]; st.OK != (want.code == "") {
				t.Errorf("%s: %s", st.Server, encode(t, st))
			} else if !st.OK && (st.Error.Code != want.code || !strings.Contains(st.Error.Message, want.message)) {
				t.Errorf("%s: %s, %s; want %s with %q",
					st.Server, st.Error.Code, st.Error.Message, want.code, want.message)
			}
		}
		if out := list[0].Error.Output; !slices.Contains(out, "I listen on port 80") {
			t.Errorf("the last output of the silent server: %q", out)
		}
		if out := list[4].Error.Output; !slices.Contains(out, "the licence has expired") {
			t.Errorf("the last output of the server that exited: %q", out)
		}
		s.run("status", "go", "every").exits(0)
		s.run("status", "gone").exits(3)
	})

	t.Run("command line", func(t *testing.T) {
		var tools []struct{ Name, Server string }
		s.run("tools").exits(0).says("upstream.start_timeout", "upstream.command_not_found",
			"the licence has expired").into(&tools)
		if !slices.ContainsFunc(tools,
			func(tool struct{ Name, Server string }) bool { return tool.Name == "go__echo" }) {
			t.Errorf("tools: %v", tools)
		}
		s.run("tools", "gone").exits(3).says("upstream.command_not_found")
		s.run("call", "go__echo", "text=x").exits(0)
		s.run("call", "gone/anything").exits(3).says("upstream.command_not_found")
	})

	t.Run("gateway", func(t *testing.T) {
		p := s.serve().speak(oldDialect)
		p.initialize()
		got := names(t, p.list("tools/list", "tools"), "name")
		for _, want := range []string{"go__echo", "every__echo"} {
			if !slices.Contains(got, want) {
				t.Errorf("no %s among %v", want, got)
			}
		}
		if got := p.tool("go__echo", object{"text": "x"}).text(t); !strings.Contains(got, "x") {
			t.Errorf("echo: %s", got)
		}
	})
}

// TestListsDoNotWaitForHangingServers checks that the list contains the servers
// that answer, and that calls do not wait for the list.
func TestListsDoNotWaitForHangingServers(t *testing.T) {
	t.Parallel()
	p := newWorkspace(t, silent("hangs"), gosdk()).serve().speak(oldDialect)
	p.initialize()
	list := p.begin("tools/list", nil)
	if got := p.tool("go__echo", object{"text": "x"}); got.Result == nil {
		t.Errorf("a call while the list waits: %s", got.raw)
	}
	var page map[string]any
	p.answer(list).into(t, &page)
	if tools, _ := page["tools"].([]any); len(tools) == 0 {
		t.Errorf("the list: %v", page)
	}
}

// TestManyCallsAtOnce checks that each of many answers belongs to its call.
func TestManyCallsAtOnce(t *testing.T) {
	const calls = 200
	for name, c := range map[string]struct {
		dialect
		servers func(t *testing.T) []server
	}{
		"legacy": {oldDialect, fourOnStdio}, "modern": {newDialect, fourOnStdio},
		"http": {newDialect, fourOverHTTP}, "sse": {oldDialect, fourOverSSE},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newWorkspace(t, c.servers(t)...).serve().speak(c.dialect)
			p.initialize()
			ids := make([]string, calls)
			for i := range calls {
				text := payload(i)
				name, arguments := "go__echo", object{"text": text, "millis": i % 7}
				switch i % 4 {
				case 1:
					name = "old__echo"
				case 2:
					name, arguments = "py1__shout", object{"text": text}
				case 3:
					name, arguments = "every__echo", object{"message": text}
				}
				ids[i] = p.begin("tools/call", object{"name": name, "arguments": arguments})
			}
			for i, id := range ids {
				want := payload(i)
				if i%4 == 2 {
					want = strings.ToUpper(want)
				}
				if got := p.answer(id).text(t); !strings.Contains(got, want) {
					t.Errorf("call %d: %s", i, clip(got))
				}
			}
		})
	}
}

func fourOnStdio(t *testing.T) []server {
	return []server{gosdk(), gosdk().pinned(latestLegacy).under("old"), fastmcp(t), everything(t)}
}

func fourOverHTTP(t *testing.T) []server {
	return []server{
		gosdkOver("http", "/modern")(t), gosdkOver("http", "/mcp")(t).under("old"),
		pythonOver(fastmcp, "streamable-http")(t), everythingOver("streamableHttp")(t),
	}
}

func fourOverSSE(t *testing.T) []server {
	return []server{gosdkOver("sse", "/sse")(t), gosdkOver("sse", "/sse")(t).under("old"),
		pythonOver(fastmcp, "sse")(t), everythingOver("sse")(t)}
}

// payload returns a text that no other call has. Some are long.
func payload(i int) string {
	return fmt.Sprintf("payload-%d-%s-end-%d", i, strings.Repeat("ab", i*i%5000), i)
}

// TestManySDKCallsAtOnce does the same with a client of the Go SDK.
func TestManySDKCallsAtOnce(t *testing.T) {
	t.Parallel()
	c := newWorkspace(t, gosdk(), gosdk().under("other")).serve().connect(newDialect, nil)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			tool := []string{"go__echo", "other__echo"}[i%2]
			if got := c.result(tool, object{"text": payload(i)}); !strings.Contains(textOf(got), payload(i)) {
				t.Errorf("call %d: %s", i, clip(textOf(got)))
			}
		})
	}
	all.Wait()
}

// TestSlowServersDoNotDelayOthers has many slow calls of one server, and fast
// calls of another.
func TestSlowServersDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	const slowMillis = 20_000
	p := newWorkspace(t, gosdk().under("slow"), gosdk().under("fast")).serve().speak(oldDialect)
	p.initialize()
	var slow []string
	for range 100 {
		slow = append(slow,
			p.begin("tools/call", object{"name": "slow__echo", "arguments": object{"text": "x", "millis": slowMillis}}))
	}
	begin := time.Now()
	for i := range 100 {
		p.tool("fast__echo", object{"text": fmt.Sprint(i)}).text(t)
	}
	if took := time.Since(begin); took > slowMillis/2*time.Millisecond {
		t.Errorf("100 calls of the fast server took %s while the other one was slow", took)
	}
	for _, id := range slow {
		p.notify("notifications/cancelled", object{"requestId": json.RawMessage(id)})
	}
	p.tool("fast__echo", object{"text": "after"}).text(t)
	p.unanswered(slow...)
}
