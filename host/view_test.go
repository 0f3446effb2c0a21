//go:build unix

package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/plan"
	"github.com/junctor-mcp/junctor/host/policy"
)

const viewed = `
server "demo" {
  transport "stdio" {
    command = ["./demo"]
    env     = { TOKEN = "a-literal-secret" }
  }
  tools {
    read = ["add"]
    deny = ["fail"]
  }
  tool "greet" {
    default = { language = "de" }
  }
}
server "twin" {
  transport "stdio" {
    command = ["./demo"]
  }
  tools {
    write   = ["greet"]
    confirm = ["greet"]
  }
  tool "add" {
    pin = { a = 7 }
  }
}
server "off" {
  enabled = false
  transport "stdio" {
    command = ["./demo"]
  }
}
gateway {
  http {
    auth "static_token" {
      token   = env("TOKEN_OF_CI", "0123456789abcdef0123456789abcdef")
      subject = "ci"
      tenant  = "acme"
      roles   = ["robot"]
    }
  }
}
policy {
  default = "deny"
  deny {
    tools = ["add"]
    when  = args.a == 7
  }
  subject "local" {
    allow {
    }
  }
  subject "ada" {
    roles = ["reader"]
  }
  subject "ada" {
    issuer = "https://id.example.com"
    roles  = ["robot"]
  }
  role "reader" {
    allow {
      access = "read"
    }
  }
  role "robot" {
    allow {
      tools = ["greet"]
      when  = args.language == "de"
    }
    confirm {
      tools = ["add"]
      by    = "client"
    }
  }
  group "qa" {
    allow {
      resources = ["demo://*"]
    }
    deny {
      servers = ["twin"]
    }
  }
}
`

// viewedApp loads a configuration, and asks its servers.
func viewedApp(t *testing.T, text string) *reloadedApp {
	t.Helper()
	a := &reloadedApp{path: filepath.Join(demoDir(t), "junctor.hcl")}
	if err := os.WriteFile(a.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a.load(t, "")
	t.Cleanup(a.Stop)
	for server, err := range a.Catalog.Ensure(t.Context()) {
		t.Fatalf("%s: %v", server, err)
	}
	return a
}

// TestViewDecidesAsWhy compares the decisions of a view with those that junctor why explains
// for the same principal, as its flags describe it.
func TestViewDecidesAsWhy(t *testing.T) {
	a := viewedApp(t, viewed)
	v := a.View(t.Context())
	if err := v.Check(); err != nil {
		t.Fatal(err)
	}
	why := map[string]authn.Principal{
		// why "" TOOL
		"everyone": {Tenant: authn.DefaultTenant},
		// why local TOOL
		"local": authn.Local(),
		// why ada TOOL
		"subject ada": {Subject: "ada", Tenant: authn.DefaultTenant},
		// --role reader
		"role reader": {Tenant: authn.DefaultTenant, Roles: []string{"reader"}},
		// --role robot
		"role robot": {Tenant: authn.DefaultTenant, Roles: []string{"robot"}},
		// --group qa
		"group qa": {Tenant: authn.DefaultTenant, Groups: []string{"qa"}},
		// why ci TOOL
		"subject ci of tenant acme": {Subject: "ci", Tenant: "acme", Method: "static_token", Roles: []string{"robot"}},
		"subject ada of issuer https://id.example.com": {Subject: "ada", Tenant: authn.DefaultTenant,
			Issuer: "https://id.example.com"},
	}
	for _, name := range v.Principals {
		if _, ok := why[name]; !ok {
			t.Errorf("the view has the principal %q", name)
		}
	}
	seen, compared := map[string]bool{}, 0
	for _, it := range v.Items {
		item := policy.Item{Server: it.Server, Kind: policy.Kind(it.Kind), Name: it.Name}
		var tool *catalog.Tool
		if item.Kind == policy.Tool {
			tool, _ = a.Catalog.Snapshot().OwnTool(it.Server, it.Name)
		}
		for name, who := range why {
			got, ok := v.Decisions[it.Decided][name]
			want := a.Explain(policy.Query{Principal: &who, Item: item, AnyRequest: who.Method != authn.Local().Method},
				tool, nil).Decision
			place := strings.ReplaceAll(want.Rule, filepath.Dir(a.path)+"/", "")
			if !ok || got.Decision != want.Verdict.String() || got.Rule != place ||
				(got.Approval == "") != (want.Approval() == nil) {
				t.Errorf("%s for %s: %+v, why says %s because %s", item, name, got, want.Verdict, want.Rule)
			}
			seen[got.Decision] = true
			compared++
		}
	}
	if len(seen) != 4 || compared < 8*8 {
		t.Errorf("%d comparisons with the decisions %v: the test does not see all of them", compared, seen)
	}
}

// TestViewHasNoSecretAndNoPlace: it can be checked into a repository.
func TestViewHasNoSecretAndNoPlace(t *testing.T) {
	a := viewedApp(t, viewed)
	text := string(a.View(t.Context()).Encode())
	for _, secret := range []string{"a-literal-secret", "0123456789abcdef", filepath.Dir(a.path),
		plan.DigestOf([]byte(`"a-literal-secret"`)), a.Config().Servers[0].Fingerprint} {
		if strings.Contains(text, secret) {
			t.Errorf("the view has %q", secret)
		}
	}
	if again := string(a.View(t.Context()).Encode()); again != text {
		t.Error("the same configuration has two views")
	}
}

// TestViewNoticesWhatClientsSee edits the configuration and looks for the change. A default
// is not in the digests of a schema: it may be a secret.
func TestViewNoticesWhatClientsSee(t *testing.T) {
	a := viewedApp(t, viewed)
	before := a.View(t.Context())
	for _, test := range []struct{ old, new, settings, items string }{
		{`language = "de" }`, `language = "fr" }`, "demo: tool greet", ""},
		{`default = { language = "de" }`, `description = "Hi."`, "demo: tool greet", "demo__greet"},
		{`default = { language = "de" }`, `name = "hello"`, "demo: tool greet", "demo__hello"},
		{`default = { language = "de" }`, `hidden = true`, "demo: tool greet", "demo__greet"},
		{`read = ["add"]`, `read = ["greet"]`, "demo: tools.read", "demo__add demo__greet"},
		{`"a-literal-secret"`, `"another"`, "", ""},
		// Its lists are those of twin.
		{`enabled = false`, `enabled = true`, "off: enabled",
			"off__introduce junctor://off/demo%3A%2F%2Fabout off__add off__fail off__greet"},
		{`pin = { a = 7 }`, `pin = { a = 8 }`, "twin: tool add", ""},
	} {
		if !strings.Contains(viewed, test.old) {
			t.Fatalf("%q is not there", test.old)
		}
		if err := os.WriteFile(a.path, []byte(strings.Replace(viewed, test.old, test.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, diags, err := a.Reload(t.Context(), nil, "a test"); err != nil || diags.HasErrors() {
			t.Fatalf("%q: %v, %v", test.new, err, diags.Err())
		}
		var settings, items []string
		c := plan.Diff(before, a.View(t.Context()))
		for _, s := range c.Servers {
			settings = append(settings, s.Server+": "+strings.Join(s.Settings, ", "))
		}
		for _, it := range c.Items {
			if !slices.Contains(items, it.Name) {
				items = append(items, it.Name)
			}
		}
		if got := strings.Join(settings, "; "); got != test.settings {
			t.Errorf("%q for %q: servers %q, want %q", test.new, test.old, got, test.settings)
		}
		if got := strings.Join(items, " "); got != test.items {
			t.Errorf("%q for %q: items %q, want %q", test.new, test.old, got, test.items)
		}
	}
}

// TestViewOfAConditionThatChanged: the decision stays "depends", and the rule is named.
func TestViewOfAConditionThatChanged(t *testing.T) {
	a := viewedApp(t, viewed)
	before := a.View(t.Context())
	if err := os.WriteFile(a.path, []byte(strings.Replace(viewed, `args.language == "de"`, `args.language == "fr"`, 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, diags, err := a.Reload(t.Context(), nil, "a test"); err != nil || diags.HasErrors() {
		t.Fatalf("%v, %v", err, diags.Err())
	}
	c := plan.Diff(before, a.View(t.Context()))
	want := []plan.RuleChange{
		{Rule: `allow for role robot: tools greet; when args.language == "de"`, Change: plan.Removed},
		{Rule: `allow for role robot: tools greet; when args.language == "fr"`, Change: plan.Added},
	}
	if !slices.Equal(c.Rules, want) || len(c.Decisions) != 0 || c.Empty() {
		t.Errorf("%+v, %+v", c.Rules, c.Decisions)
	}
}

func TestViewEndsWithItsContext(t *testing.T) {
	a := viewedApp(t, viewed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v := a.View(ctx); v != nil {
		t.Errorf("%d items", len(v.Items))
	}
}
