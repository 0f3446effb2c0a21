package gateway

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
)

// pinned pins the tools that a server shows first, unless it is strict.
type pinned struct {
	strict bool

	mu      sync.Mutex
	digests map[string]string // guarded by mu
}

var _ catalog.Pins = (*pinned)(nil)

func (p *pinned) Pinned(tool string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.digests[tool]
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
				c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}%s}}`, name, meta)
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
