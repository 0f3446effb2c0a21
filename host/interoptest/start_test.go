package interoptest

import (
	"slices"
	"strings"
	"testing"
)

// late returns a server that waits before it reads, like one that is downloaded
// first.
func (s server) late(seconds string) server {
	s.command = append([]string{"sh", "-c", `sleep "$0" && exec "$@"`, seconds}, s.command...)
	return s
}

// TestServersThatStartSlowly checks that the era of a server is detected,
// however long its start takes.
func TestServersThatStartSlowly(t *testing.T) {
	for name, c := range map[string]struct {
		server   func(*testing.T) server
		revision string
	}{
		"fastmcp":   {fastmcp, latestLegacy},
		"mcpserver": {mcpserver, modern},
		"gosdk":     {func(*testing.T) server { return gosdk() }, modern},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWorkspace(t, c.server(t).late("4"))
			o := s.run("status")
			first := o.servers()
			if !first[0].OK || first[0].Protocol != c.revision {
				t.Errorf("the first start: %s, want revision %s", encode(t, first[0]), c.revision)
			}
			o = s.run("status")
			second := o.servers()
			if !second[0].OK || second[0].Protocol != c.revision {
				t.Errorf("the second start: %s, want revision %s", encode(t, second[0]), c.revision)
			}
		})
	}
}

// A status is the part of junctor status that tests check.
type status struct {
	Server, State, Protocol, Transport, Plugin, At string
	OK                                             bool
	Tools, Resources, Prompts                      *int
	PID                                            int
	Notes                                          []string
	Error                                          *struct {
		Code, Message, Hint string
		Output              []string
	}
}

// TestPinnedRevisions checks that a server of several revisions uses the
// configured one.
func TestPinnedRevisions(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", latestLegacy, modern} {
		address := "/mcp"
		if revision == modern {
			address = "/modern"
		}
		for name, of := range map[string]func(*testing.T) server{
			"gosdk": func(*testing.T) server { return gosdk() }, "mcpserver": mcpserver,
			"gosdk-http": gosdkOver("http", address),
		} {
			t.Run(revision+"/"+name, func(t *testing.T) {
				if name == "mcpserver" && revision != "2025-06-18" {
					rarely(t)
				}
				t.Parallel()
				s := newWorkspace(t, of(t).pinned(revision).under("it"))
				list := s.run("status").exits(0).servers()
				if list[0].Protocol != revision {
					t.Errorf("the server speaks %s", encode(t, list[0]))
				}
				tool := "it__echo"
				if name == "mcpserver" {
					tool = "it__shout"
				}
				if got := s.run("call", tool, "text=xyz").exits(0).stdout; !strings.Contains(strings.ToLower(got),
					"xyz") {
					t.Errorf("a call: %s", got)
				}
			})
		}
	}
}

// TestRevisionsThatAServerDoesNotHave checks that a configured revision that
// the server lacks is an error.
func TestRevisionsThatAServerDoesNotHave(t *testing.T) {
	t.Parallel()
	list := newWorkspace(t, fastmcp(t).pinned(modern)).run("status").exits(3).servers()
	if list[0].OK || list[0].Error.Code != "upstream.protocol" || !strings.Contains(list[0].Error.Message, modern) {
		t.Errorf("a server that does not know %s: %s", modern, encode(t, list[0]))
	}
}

// TestClientsOfEveryRevision checks that a client gets a supported revision,
// whatever it requests.
func TestClientsOfEveryRevision(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", latestLegacy: latestLegacy,
		"1999-01-01": latestLegacy, "2999-01-01": latestLegacy, modern: latestLegacy,
	} {
		t.Run(asked, func(t *testing.T) {
			t.Parallel()
			p := newWorkspace(t, gosdk()).serve().speak(dialect{revision: latestLegacy})
			m := p.call("initialize", object{"protocolVersion": asked,
				"capabilities": object{}, "clientInfo": object{"name": "x", "version": "1"}})
			var hello struct{ ProtocolVersion string }
			m.into(t, &hello)
			if hello.ProtocolVersion != want {
				t.Errorf("revision %s, want %s", hello.ProtocolVersion, want)
			}
			p.notify("notifications/initialized", nil)
			p.waitForTools("go")
			if got := names(t, p.list("tools/list", "tools"), "name"); !slices.Contains(got, "go__echo") {
				t.Errorf("tools: %v", got)
			}
			if got := p.tool("go__echo", object{"text": "hi"}).text(t); !strings.Contains(got, "hi") {
				t.Errorf("echo: %s", got)
			}
			p.call("ping", nil).into(t, &object{})
		})
	}
}
