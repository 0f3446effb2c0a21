package clientimport

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A use is one use of an item by a principal.
type use struct {
	subject, server, name string
	roles                 []string
	kind                  policy.Kind
	access                policy.Access
}

// An accessList is the access control list of avelino's mcp.
type accessList struct {
	Default string
	Strict  bool `json:"strictClassification"`
	Rules   []struct {
		Subjects, Roles, Tools []string
		Policy                 string
	}
	Roles    map[string][]grant
	Subjects map[string]struct {
		Roles []string
		Extra []grant
	}
}

type grant struct {
	Server, Access            string
	Tools, Resources, Prompts []string
	Deny                      bool
}

// allowedThere decides as avelino's mcp does.
func allowedThere(a *accessList, u use) bool {
	for _, r := range a.Rules {
		if u.kind == policy.Tool && about(r.Subjects, []string{u.subject}) && about(r.Roles, u.roles) &&
			anyGlob(r.Tools, u.server+"__"+u.name) {
			return r.Policy == "allow"
		}
	}
	subject := a.Subjects[u.subject]
	grants := slices.Clone(subject.Extra)
	for name, of := range a.Roles {
		if slices.Contains(u.roles, name) || slices.Contains(subject.Roles, name) {
			grants = append(grants, of...)
		}
	}
	for _, deny := range []bool{true, false} {
		for _, g := range grants {
			if g.Deny == deny && anyGlob([]string{g.Server}, u.server) && itemOf(g, u) && covers(a, g, u) {
				return !deny
			}
		}
	}
	return a.Default == "allow"
}

func about(names, have []string) bool {
	return len(names) == 0 || slices.Contains(names, "*") ||
		slices.ContainsFunc(have, func(s string) bool { return slices.Contains(names, s) })
}

func anyGlob(globs []string, text string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return config.Pattern{Glob: g}.Match(text) })
}

func itemOf(g grant, u use) bool {
	globs := map[policy.Kind][]string{policy.Tool: g.Tools, policy.Resource: g.Resources,
		policy.Prompt: g.Prompts}[u.kind]
	return len(globs) == 0 || anyGlob(globs, u.name)
}

func covers(a *accessList, g grant, u use) bool {
	if u.kind != policy.Tool {
		return g.Access != "write"
	}
	if a.Strict && u.access == policy.Ambiguous {
		return g.Deny
	}
	return g.Access == "*" || (g.Access == "read") == (u.access == policy.Read)
}

// here returns the policy of a block.
func here(t interface{ Fatalf(string, ...any) }, block []byte, servers ...string) *policy.Policy {
	c, diags := config.Load(context.Background(),
		config.Options{Text: block, Path: "x.hcl", Lookup: func(string) (string, bool) { return "", false }})
	if c == nil || diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, block)
		return nil
	}
	offers := map[string]policy.Server{}
	for _, s := range servers {
		offers[s] = policy.Server{}
	}
	return policy.New(offers, c.Policy)
}

func allowedHere(p *policy.Policy, u use) bool {
	who := authn.Principal{Subject: u.subject, Roles: u.roles, Tenant: authn.DefaultTenant, Method: "test"}
	if u.subject == "anonymous" {
		who = authn.Anonymous()
	}
	d := p.Decide(&policy.Query{Principal: &who, Item: policy.Item{Server: u.server, Kind: u.kind, Name: u.name},
		Access: u.access, Args: []byte("{}")})
	return d.Allows()
}

var (
	someServers = []string{"sentry", "slack", "sentry-eu", "a_b"}
	someTools   = []string{"get_issue", "issues", "delete", "_x", "admin_panel"}
	toolGlobs   = []string{"*", "get_*", "*_issue", "issues", "delete", "*admin*", "d*e"}
	seenGlobs   = []string{"*", "**", "sentry__*", "*_issues", "*__issues", "*admin*", "s*__get_*", "sentry__delete",
		"sentry__*_get_issue", "delete", "*_", "a_b*", "a__b*", "*y__*", "sentry_*", "slack*", "s*t*__i*s"}
	serverGlobs  = []string{"*", "sentry", "s*", "*y", "slack", "other"}
	someSubjects = []string{"alice", "bob", "anonymous", "local", "x\u0300y"}
	someRoles    = []string{"dev", "ops"}
)

func uses() (all []use) {
	for _, subject := range append(slices.Clone(someSubjects), "eve") {
		if subject == "local" {
			continue // no client with a credential may be called so
		}
		for _, roles := range [][]string{nil, {"dev"}, {"ops"}, {"dev", "ops"}} {
			if subject == "anonymous" && roles != nil {
				continue // a client without a credential has no roles
			}
			for _, server := range someServers {
				for _, name := range someTools {
					for _, access := range []policy.Access{policy.Read, policy.Write, policy.Ambiguous} {
						all = append(all, use{subject, server, name, roles, policy.Tool, access})
					}
				}
				all = append(all, use{subject, server, "file:///a", roles, policy.Resource, policy.Read},
					use{subject, server, "greet", roles, policy.Prompt, policy.Read})
			}
		}
	}
	return all
}

// TestOrderedRulesDecideAsBefore: rules of which the first decides become a policy that
// decides the same about tools, unless a note says otherwise.
func TestOrderedRulesDecideAsBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := func(from []string, most int, what string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(from), 0, most).Draw(t, what)
		}
		var rules []map[string]any
		for range rapid.IntRange(1, 5).Draw(t, "rules") {
			rules = append(rules, map[string]any{
				"subjects": few(append(someSubjects, "*"), 2, "subjects"),
				"roles":    few(append(someRoles, "*"), 2, "roles"),
				"tools":    few(seenGlobs, 2, "tools"),
				"policy":   rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "policy"),
			})
		}
		compare(t,
			map[string]any{"default": rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "default"), "rules": rules})
	})
}

// TestGrantsAllowNoMoreThanBefore: grants of roles and subjects become a policy that allows
// what they allow, and nothing else.
func TestGrantsAllowNoMoreThanBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grants := func() (all []map[string]any) {
			for range rapid.IntRange(0, 3).Draw(t, "grants") {
				g := map[string]any{
					"server": rapid.SampledFrom(serverGlobs).Draw(t, "server"),
					"access": rapid.SampledFrom([]string{"read", "write", "*"}).Draw(t, "access"),
					"deny":   rapid.Bool().Draw(t, "deny"),
				}
				if rapid.Bool().Draw(t, "narrow") {
					g["tools"] = []string{rapid.SampledFrom(toolGlobs).Draw(t, "tool")}
				}
				if rapid.IntRange(0, 3).Draw(t, "more") == 0 {
					g["resources"] = []string{"file:*"}
				}
				all = append(all, g)
			}
			return slices.Clip(append([]map[string]any{}, all...))
		}
		compare(t, map[string]any{
			"default":              rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "default"),
			"strictClassification": rapid.Bool().Draw(t, "strict"),
			"roles":                map[string]any{"dev": grants(), "ops": grants()},
			"subjects": map[string]any{
				"alice":     map[string]any{"roles": []string{"dev"}, "extra": grants()},
				"anonymous": map[string]any{"extra": grants()}, "local": map[string]any{"extra": grants()},
			},
		})
	})
}

// compare converts an access control list and decides about all uses in both ways.
func compare(t *rapid.T, list map[string]any) {
	servers := map[string]any{}
	for _, s := range someServers {
		servers[s] = map[string]any{"command": "x"}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": servers, "serverAuth": map[string]any{"acl": list}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := clientconfig.ReadContent(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var there accessList
	if text, err = json.Marshal(list); err == nil {
		err = json.Unmarshal(text, &there)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := Convert(file, Environment{})
	inexact := strings.Contains(strings.Join(got.Notes, "\n"), "the rule at ") ||
		strings.Contains(strings.Join(got.Notes, "\n"), "the name at ")
	p := here(t, got.Policy, someServers...)
	for _, u := range uses() {
		before, now := allowedThere(&there, u), allowedHere(p, u)
		if now && !before || !inexact && now != before {
			shown, _ := json.MarshalIndent(list, "", " ")
			t.Fatalf("%+v: there %t, here %t\n%s\n%s\n%q", u, before, now, shown, got.Policy, got.Notes)
		}
	}
}

// TestRenamedServersKeepTheirRules: a server that gets another name here keeps its rules,
// and no other server gets them.
func TestRenamedServersKeepTheirRules(t *testing.T) {
	text := `{"mcpServers": {"my files": {"command": "x"}, "my-mail": {"command": "x"}},
		"serverAuth": {"acl": {"default": "deny", "roles": {"dev": [{"server": "my *", "access": "*"}], "ops": [{"server": "my-*", "access": "*"}]}}}}`
	file, err := clientconfig.ReadContent([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := here(t, Convert(file, Environment{}).Policy, "my-files", "my-mail")
	for _, c := range []struct {
		role, server string
		want         bool
	}{{"dev", "my-files", true}, {"dev", "my-mail", false}, {"ops", "my-files", false}, {"ops", "my-mail", true}} {
		if got := allowedHere(p,
			use{"alice", c.server, "x", []string{c.role}, policy.Tool, policy.Read}); got != c.want {
			t.Errorf("%s, %s: %t", c.role, c.server, got)
		}
	}
}

// TestPermissionLevels: what each level of NEXUS3 becomes.
func TestPermissionLevels(t *testing.T) {
	for _, c := range []struct{ permissions, want string }{
		{`"yolo"`, "allowed allowed"},
		{`"trusted"`, "confirm confirm"},
		{`"sandboxed"`, "denied denied"},
		{`{"presets": {}}`, "denied denied"},
		{`{"default_preset": "mine"}`, "denied denied"},
		{`{"default_preset": "mine", "presets": {"mine": {"extends": "yolo"}}}`, "allowed allowed"},
		{`{"default_preset": "mine", "presets": {"mine": {"extends": "mine"}}}`, "denied denied"},
		{`{"default_preset": "yolo", "tool_permissions": {"mcp_git_push": {"enabled": false}}}`, "allowed denied"},
		{`{"default_preset": "yolo", "tool_permissions": {"mcp_other_git_push": {"enabled": false}}}`,
			"allowed denied"},
		{`{"default_preset": "yolo", "tool_permissions": {"mcp_git_push": {"requires_confirmation": true}}}`,
			"allowed confirm"},
		{`{"default_preset": "sandboxed", "tool_permissions": {"mcp_git_push": {"requires_confirmation": true}}}`,
			"denied denied"},
	} {
		file, err := clientconfig.ReadContent(
			[]byte(fmt.Sprintf(`{"servers": {"git": {"command": "x"}}, "permissions": %s}`, c.permissions)), nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		p := here(t, Convert(file, Environment{}).Policy, "git")
		var got []string
		for _, name := range []string{"pull", "push"} {
			who := authn.Local()
			d := p.Decide(&policy.Query{Principal: &who,
				Item: policy.Item{Server: "git", Kind: policy.Tool, Name: name}, Args: []byte("{}")})
			got = append(got, d.Verdict.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.permissions, got, c.want)
		}
	}
}
