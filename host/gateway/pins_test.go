package gateway

import (
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// pinned pins the tools that a server shows first, unless it is strict.
type pinned struct {
	strict bool

	mu      sync.Mutex
	digests map[string]string // guarded by mu
}

var _ catalog.Pins = (*pinned)(nil)

func (p *pinned) Digests() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.digests)
}

func (p *pinned) Strict() bool { return p.strict }

func (p *pinned) Seen(definitions map[string][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, definition := range definitions {
		if p.digests[name] == "" && !p.strict {
			p.digests[name] = catalog.DefinitionDigest(definition)
		}
	}
}

func (p *pinned) accept(held []catalog.Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range held {
		p.digests[h.Tool] = h.Digest
	}
}

// TestDeniedHeldToolLooksUnknown compares the answers for a tool that is held back, and that the
// policy denies, with those for a name that does not exist, byte by byte.
func TestDeniedHeldToolLooksUnknown(t *testing.T) {
	for _, meta := range []string{"", `,"_meta":{$M}`} {
		synctest.Test(t, func(t *testing.T) {
			a := newFake("a", "2025-11-25")
			a.rules.Deny = []policy.Pattern{{At: "f:1:1", Glob: "held*"}}
			a.views = map[string]*catalog.View{"held_view": {Name: "held_name", At: "f:2:1"}}
			a.pins = &pinned{strict: true}
			a.Set("tools/list", `{"name":"held_1"}`, `{"name":"held_view"}`)
			d := newFixture(a)
			defer d.end()
			if failed := d.Catalog().Ensure(t.Context()); len(failed) > 0 {
				t.Fatal(failed)
			}
			if held, _ := d.Catalog().Held("a"); len(held) != 2 {
				t.Fatalf("held back: %v", held)
			}
			c := d.visitor("alice", "one")
			defer c.hangUp()
			if meta == "" {
				c.greet(t, "{}")
			}
			var want string
			for _, name := range []string{"a__absent", "a__held_1", "a__held_name", "a__held_view"} {
				c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}%s}}`,
					name, meta)
				answer := strings.ReplaceAll(<-c.Sent, name, "NAME")
				if want == "" {
					want = answer
				}
				if answer != want || !strings.Contains(answer, "unknown tool") {
					t.Errorf("%s: %s\nwant %s", name, answer, want)
				}
			}
		})
	}
}

// TestCallChecksThePinFirst: lists from disk, and those of a process of the server that has ended,
// are read anew before a call.
func TestCallChecksThePinFirst(t *testing.T) {
	const before, after = `{"name":"t","description":"reads"}`, `{"name":"t","description":"sends"}`
	pins := func() *pinned {
		p := &pinned{digests: map[string]string{}}
		p.Seen(map[string][]byte{"t": []byte(before)})
		return p
	}
	call := func(t *testing.T, d *fixture, want string) {
		t.Helper()
		c := d.visitor("alice", "one")
		defer c.hangUp()
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{},"_meta":{$M}}}`)
		if answer := <-c.Sent; !strings.Contains(answer, want) {
			t.Errorf("%s\nwant %s", answer, want)
		}
	}
	answering := func(item string, share Share) *fake {
		a := newFake("a", "2025-11-25")
		a.share = share
		own := a.Answer
		a.Answer = func(l *conversation.Link, m conversation.Message) string {
			if m.Method == "tools/call" {
				return conversation.Result(m, `{"content":[]}`)
			}
			return own(l, m)
		}
		a.pins = pins()
		a.Set("tools/list", item)
		return a
	}
	calls := func(a *fake) (n int) {
		for _, method := range a.Seen(false) {
			if method == "tools/call" {
				n++
			}
		}
		return n
	}
	for _, share := range []Share{"", Shared, PerTenant} {
		t.Run("disk "+string(share), func(t *testing.T) {
			dir := cache.Dir(t.TempDir())
			synctest.Test(t, func(t *testing.T) {
				first := newFixtureIn(dir, answering(before, share))
				first.warm(t)
				first.end()
				a := answering(after, share)
				d := newFixtureIn(dir, a)
				defer d.end()
				if len(d.Catalog().Snapshot().Tools) != 1 {
					t.Fatal("the lists on disk are not used")
				}
				call(t, d, `"code":-31013`)
				if n := calls(a); n > 0 {
					t.Errorf("%d calls reached the server", n)
				}
				same := answering(before, share)
				again := newFixtureIn(dir, same)
				defer again.end()
				call(t, again, `"content":[]`)
			})
		})
	}
	t.Run("idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := answering(before, Shared)
			a.idle = time.Minute
			d := newFixture(a)
			defer d.end()
			d.warm(t)
			call(t, d, `"content":[]`)
			asked := len(a.Seen(false))
			call(t, d, `"content":[]`)
			if n := len(a.Seen(false)); n != asked+1 {
				t.Errorf("a second call needs %d messages", n-asked)
			}
			bubble.Sleep(time.Hour)
			a.Set("tools/list", after)
			call(t, d, `"code":-31013`)
			if n := calls(a); n != 2 {
				t.Errorf("%d calls reached the server", n)
			}
		})
	})
}
