package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestStaleSchema: before arguments are refused because of a schema from disk,
// the server is asked for its schema now.
func TestStaleSchema(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	const tool = `{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":%q}}}}`
	synctest.Test(t, func(t *testing.T) {
		before := simple("a")
		before.Set("tools/list", fmt.Sprintf(tool, "integer"))
		d := newFixtureIn(dir, before)
		d.warm(t)
		d.end()

		for i, c := range []struct{ now, want string }{
			{fmt.Sprintf(tool, "string"), `"result":{"content":[]}`},
			{fmt.Sprintf(tool, "integer"), `n must be an integer`},
			{`{"name":"other"}`, `n must be an integer`},
		} {
			f := simple("a")
			f.Set("tools/list", c.now)
			f.Answer = func(_ *conversation.Link, m conversation.Message) string {
				if m.Method == "tools/call" {
					return conversation.Result(m, "{}")
				}
				return ""
			}
			d := newFixtureIn(dir, f)
			client := d.client()
			client.greet(t, "{}")
			call := func(args string) string {
				client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":%s}}`,
					args)
				synctest.Wait()
				return strings.Join(client.drain(), "\n")
			}
			if got := call(`{"n":"one"}`); !strings.Contains(got, c.want) {
				t.Errorf("%d: %s", i, got)
			}
			if n := f.Count("tools/list"); n != 1 {
				t.Errorf("%d: it was asked %d times", i, n)
			}
			client.hangUp()
			d.end()
			// The file is as it was for the next one.
			d = newFixtureIn(dir, before)
			d.Catalog().Refresh(t.Context())
			d.end()
		}
	})
}

// TestServerThatIsDown: what is known from disk of a server that cannot be
// reached is refused by it all the same, and asked for only once.
func TestServerThatIsDown(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		f.Set("tools/list", `{"name":"t","inputSchema":{"type":"object","required":["n"]}}`)
		d := newFixtureIn(dir, f)
		d.warm(t)
		d.end()
		down := simple("a")
		down.Answer = func(*conversation.Link, conversation.Message) string { return conversation.Later }
		d = newFixtureIn(dir, down)
		defer d.end()
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__t","arguments":{}}}`)
		bubble.Sleep(20 * time.Second)
		if got := strings.Join(c.drain(), "\n"); !strings.Contains(got, `"name":"a__t"`) ||
			!strings.Contains(got, `"isError":true`) {
			t.Error(got)
		}
	})
}

// TestHungServer: a first call to one server does not wait for another that
// hangs, and a list waits for it only so long.
func TestHungServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung, good := simple("a"), simple("b")
		hung.Answer = func(*conversation.Link, conversation.Message) string { return conversation.Later }
		good.Set("prompts/list", `{"name":"p"}`)
		good.Capabilities = `{"tools":{},"prompts":{}}`
		d := newFixture(hung, good)
		defer d.end()
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		begun := time.Now()
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b__t"}}`)
		c.say(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"b__p"}}`)
		synctest.Wait()
		if len(good.got) != 2 || time.Since(begun) > 0 {
			t.Errorf("%d arrived after %s", len(good.got), time.Since(begun))
		}
		c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		bubble.Sleep(firstListTime)
		synctest.Wait()
		if got := strings.Join(c.drain(), "\n"); !strings.Contains(got,
			`"id":3,"result":{"tools":[{"name":"b__t","inputSchema":{"type":"object"}}]}`) ||
			d.log.count("lists are not known") == 0 {
			t.Error(got)
		}
	})
}

// TestViews: what a view pins a client cannot set, nor see.
func TestViews(t *testing.T) {
	f := simple("a")
	f.Set("tools/list", `{"name":"t","inputSchema":{"type":"object","properties":{"owner":{"type":"string"},"q":{"type":"string"}},"required":["owner","q"]}}`,
		`{"name":"open","inputSchema":{"type":"object"}}`)
	pin := &catalog.View{Name: "find", Pin: map[string]json.RawMessage{"owner": json.RawMessage(`"acme"`)},
		Default: map[string]json.RawMessage{"q": json.RawMessage(`"x"`)}, At: "secret.hcl:1:1"}
	f.views = map[string]*catalog.View{"t": pin, "open": {Pin: pin.Pin}}
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	c := d.client()
	defer c.hangUp()
	c.greet(t, "{}")
	for _, tool := range []string{"find", "open"} {
		for _, args := range []string{`{"owner":"evil"}`, `{"own\u0065r":"evil","q":"y"}`, `{"owner":"acme"}`} {
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__%s","arguments":%s}}`, tool, args)
			if got := <-c.Sent; !strings.Contains(got, `owner is fixed by the configuration`) ||
				strings.Contains(got, "hcl") {
				t.Errorf("%s %s: %s", tool, args, got)
			}
		}
	}
	id := 10
	for args, want := range map[string]string{`{}`: `{"q":"x","owner":"acme"}`,
		`{"q" : "y"}`: `{"q" : "y","owner":"acme"}`} {
		id++
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__find","arguments":%s}}`, id, args)
		if got := <-f.got; !strings.Contains(got, `"params":{"name":"t","arguments":`+want+`}`) {
			t.Error(got)
		}
		c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
		<-f.got
	}
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if got := <-c.Sent; strings.Contains(got, "owner") || strings.Contains(got, "acme") ||
		!strings.Contains(got, `"default":"x"`) {
		t.Error(got)
	}
	c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a__t","arguments":{}}}`)
	if got := <-c.Sent; !strings.Contains(got, "unknown tool") {
		t.Error(got)
	}
}

// TestRepeat: a call is made again after the connection ended only where the
// configuration says that it may be.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		f.Set("tools/list", `{"name":"read"}`, `{"name":"write"}`)
		f.repeat = func(tool string) bool { return tool == "read" }
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		for id, name := range []string{"read", "write"} {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__%s"}}`, id, name)
		}
		synctest.Wait()
		f.Link().End(nil)
		bubble.Sleep(time.Second)
		if got := c.drain(); len(got) != 1 || !strings.Contains(got[0], `"id":1,"error":{"code":-32000`) ||
			f.Count("tools/call") != 3 {
			t.Errorf("%v, %d calls", got, f.Count("tools/call"))
		}
	})
}

// TestWarned: what is wrong with a tool or its result is reported once, to the caller
// or to the log if the caller has no Warn.
func TestWarned(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	large := `{"n":"` + strings.Repeat("x", maxValidatedOutput) + `"}`
	for name, c := range map[string]struct{ tool, result, want string }{
		"fits": {`"outputSchema":` + schema, `{"structuredContent":{"n":1}}`, ""},
		"fits not": {`"outputSchema":` + schema,
			`{"structuredContent":{"n":"x"}}`, outputMismatch + ": n must be an integer"},
		"other member": {`"outputSchema":{"type":"object","properties":{"n":{}},"additionalProperties":false}`,
			`{"structuredContent":{"other":1}}`, outputMismatch + ": other is not in the output schema"},
		"lacks":        {`"outputSchema":` + schema, `{"content":[]}`, outputMissing},
		"large":        {`"outputSchema":` + schema, `{"structuredContent":` + large + `}`, outputTooLarge},
		"promises not": {`"x":1`, `{"content":[]}`, ""},
		"error":        {`"outputSchema":` + schema, `{"isError":true,"content":[]}`, ""},
		"error, large": {`"outputSchema":` + schema, `{"isError":true,"structuredContent":` + large + `}`, ""},
		"complete":     {`"outputSchema":` + schema, `{"resultType":"complete","content":[]}`, outputMissing},
		"asks":         {`"outputSchema":` + schema, `{"resultType":"input_required","inputRequests":{}}`, ""},
		"output": {`"outputSchema":{"type":"object","not":{"pattern":"(?=a)b"}}`, `{"structuredContent":{}}`,
			schemaUnusable + ": its results are not checked: "},
		"input": {`"inputSchema":{"type":"object","not":{"pattern":"(?=a)b"}}`, `{"content":[]}`,
			schemaUnusable + ": its arguments are not checked: "},
	} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(name+" "+revision, func(t *testing.T) {
				want := c.want
				if name == "asks" && !mcp.Revision(revision).Modern() {
					want = outputMissing // legacy results ask for nothing
				}
				f := newFake("a", revision)
				f.Capabilities = `{"tools":{}}`
				f.Set("tools/list", `{"name":"t",`+c.tool+`}`)
				others := f.Answer
				f.Answer = func(l *conversation.Link, m conversation.Message) string {
					if m.Method == "tools/call" {
						return conversation.Result(m, c.result)
					}
					return others(l, m)
				}
				d := newFixture(f)
				defer d.end()
				d.warm(t)
				tool, _ := d.Catalog().Snapshot().OwnTool("a", "t")
				var said []string
				call := LocalCall{
					Method: mcp.MethodCallTool, Tool: tool, Params: []byte(`{"name":"a__t","arguments":{}}`),
					Warn: func(text string) { said = append(said, text) },
				}
				for range 2 {
					said = nil
					if _, err := d.CallLocally(t.Context(), call); err != nil {
						t.Fatal(err)
					}
					if len(said) > 1 || (len(said) == 1) != (want != "") ||
						!strings.HasPrefix(strings.Join(said, ""), "tool a__t: "+want) && want != "" {
						t.Errorf("said %q", said)
					}
				}
				if what, _, _ := strings.Cut(want, ": "); what != "" {
					call.Warn = nil
					before := d.log.count(what)
					_, _ = d.CallLocally(t.Context(), call)
					if before != 0 || d.log.count(what) != 1 {
						t.Errorf("logged %d times", d.log.count(what))
					}
				}
			})
		}
	}
}

// TestDecided: without a permit the functions that the command line uses call
// nothing either, and say which rule it was.
func TestDecided(t *testing.T) {
	f := full("a", "2025-11-25")
	f.rules.Deny = []policy.Pattern{{At: "f:1:2", Glob: "*"}}
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	tool, _ := d.Catalog().Snapshot().OwnTool("a", "x")
	_, err := d.CallLocally(t.Context(), LocalCall{Method: mcp.MethodCallTool, Tool: tool})
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "deny at f:1:2") {
		t.Error(err)
	}
	if got := d.Explain(localQuery("x"), nil, nil).Decision; got.Lists() || got.Rule != "deny at f:1:2" {
		t.Errorf("%+v", got)
	}
	d.setPolicy(policy.New(nil, policy.Rules{}))
	prompt, _ := d.Catalog().Snapshot().OwnPrompt("a", "x")
	if _, err := d.CallLocally(t.Context(), LocalCall{Method: mcp.MethodGetPrompt, Prompt: prompt}); !fault.Is(err,
		fault.Denied) {
		t.Error(err)
	}
	if _, err := d.CallLocally(t.Context(),
		LocalCall{Method: mcp.MethodReadResource, Resource: catalog.Location{Server: "a", URI: "r:1"}}); !fault.Is(err,
		fault.Denied) {
		t.Error(err)
	}
	if n := f.Count("tools/call") + f.Count("prompts/get") + f.Count("resources/read"); n != 0 {
		t.Errorf("%d calls", n)
	}
}
