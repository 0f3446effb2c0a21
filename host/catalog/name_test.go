package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpose(t *testing.T) {
	for _, c := range []struct{ name, prefix, server, own, want string }{
		{"plain", "gh", "github", "search_issues", "gh__search_issues"},
		{"dashes", "a-b", "a-b", "x-y", "a-b__x-y"},
		{"separator in the name", "a", "a", "b__c", "a__b__c"},
		{"a dot", "gh", "github", "issues.list", "gh__issues_list_a8abd7fe"},
		{"a dot where it is legal", "", "github", "issues.list", "issues.list"},
		{"64 bytes", "p", "p", strings.Repeat("x", 61), "p__" + strings.Repeat("x", 61)},
		{"65 bytes", "p", "p", strings.Repeat("x", 62), "p__" + strings.Repeat("x", 52) + "_9f918cb3"},
		{"64 bytes without a prefix", "", "p", strings.Repeat("x", 64), strings.Repeat("x", 64)},
		{"65 bytes without a prefix", "", "p", strings.Repeat("x", 65), strings.Repeat("x", 55) + "_341d9db6"},
		{"129 bytes without a prefix", "", "p", strings.Repeat("x", 129), strings.Repeat("x", 55) + "_7ddc38e3"},
		{"other scripts", "p", "p", "検索", "p_____8b770c0f"},
		{"a path", "p", "p", "../../etc/passwd", "p________etc_passwd_ea61ea01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Expose(c.prefix, c.server, c.own); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// drawName returns a tool name that often differs from others only in characters that
// sanitising removes.
func drawName(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringMatching(`[a-c._-]{1,4}`),
		rapid.StringMatching(`[A-Za-z0-9_.-]{50,140}`),
		rapid.StringN(1, 20, 200),
		rapid.Map(rapid.IntRange(0, 3), func(n int) string { return strings.Repeat("x", 200) + fmt.Sprint(n) }),
	).Draw(t, "name")
}

// drawServers returns servers with tools.
func drawServers(t *rapid.T) ([]*Server, map[string]*lists) {
	prefixes := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "a_b", "trusted", "trusted_evil", "b-c", ""}), 1,
		4, rapid.ID[string]).Draw(t, "prefixes")
	var servers []*Server
	all := map[string]*lists{}
	for i, prefix := range prefixes {
		s := &Server{Name: fmt.Sprintf("server%d", i), Prefix: prefix}
		servers = append(servers, s)
		var l lists
		for range rapid.IntRange(0, 8).Draw(t, "tools") {
			l.Tools.Items = append(l.Tools.Items, fmt.Appendf(nil, `{"name":%s}`, quoted(drawName(t))))
		}
		all[s.Name] = &l
	}
	return servers, all
}

// checkNames checks that every exposed name is valid, leads to its own tool, and does not
// depend on other servers or on the order of lists.
func checkNames(t *rapid.T) {
	servers, all := drawServers(t)
	s := build(servers, all)
	exposed := map[string]string{}
	for _, tool := range s.Tools {
		if !legalName.MatchString(tool.Exposed) ||
			prefixOf(servers, tool.Server) != "" && !plainName.MatchString(tool.Exposed) {
			t.Fatalf("%q has the exposed name %q", tool.Name, tool.Exposed)
		}
		if back, ok := s.Tool(tool.Exposed); !ok || back != tool {
			t.Fatalf("%q does not lead back to %q", tool.Exposed, tool.Name)
		}
		exposed[tool.Server+"\x00"+tool.Name] = tool.Exposed
	}
	for _, server := range servers {
		checkComplete(t, s, server, all[server.Name])
		// Alone and in another order, the tools have the same names.
		rand.Shuffle(len(all[server.Name].Tools.Items), func(i, j int) {
			items := all[server.Name].Tools.Items
			items[i], items[j] = items[j], items[i]
		})
		alone := build([]*Server{server}, all)
		for _, tool := range alone.Tools {
			if before, ok := exposed[tool.Server+"\x00"+tool.Name]; ok && before != tool.Exposed {
				t.Fatalf("%q was %q and is %q", tool.Name, before, tool.Exposed)
			}
		}
	}
}

func TestNames(t *testing.T) { rapid.Check(t, checkNames) }

func FuzzNames(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkNames)) }

func prefixOf(servers []*Server, name string) string {
	for _, s := range servers {
		if s.Name == name {
			return s.Prefix
		}
	}
	return ""
}

// checkComplete checks that every valid tool of a prefixed server has its own exposed name.
func checkComplete(t *rapid.T, s *Snapshot, server *Server, l *lists) {
	if server.Prefix == "" {
		return
	}
	for _, raw := range l.Tools.Items {
		it, why := newItem(server, "tool", "name", raw)
		if why != "" {
			continue
		}
		if tool, ok := s.OwnTool(server.Name, it.Name); !ok || s.tools[tool.Exposed] != tool {
			t.Fatalf("%q of %s is missing", it.Name, server.Name)
		}
	}
}

// TestBadNames checks that deceptive names are omitted with a note each, without an effect
// on other items.
func TestBadNames(t *testing.T) {
	bad := []string{
		``, `a\u0000b`, `a\nb`, `a\u202eb`, `a\u200bb`, `a\u001b[2Jb`, strings.Repeat("x", 65<<10),
		`\ud83d`, `a\u00a0b`,
	}
	var l lists
	for _, name := range bad {
		l.Tools.Items = append(l.Tools.Items, []byte(`{"name":"`+name+`"}`))
	}
	for _, item := range []string{`{"name":7}`, `{}`, `"x"`, `null`, `{"name":"good"}`, `{"name":"../x"}`} {
		l.Tools.Items = append(l.Tools.Items, []byte(item))
	}
	s := build([]*Server{{Name: "evil", Prefix: "evil"}}, map[string]*lists{"evil": &l})
	if got := strings.Join(s.Names(), " "); got != "evil_____x_a635e07a evil__good" {
		t.Errorf("%s", got)
	}
	if len(s.Notes) != len(bad)+4 {
		t.Errorf("%d notes: %v", len(s.Notes), s.Notes)
	}
	for _, n := range s.Notes {
		if strings.ContainsAny(n.Text, "\n\x1b\x00\u202e\u200b") || len(n.Text) > 200 {
			t.Errorf("note %q", n.Text)
		}
	}
}
