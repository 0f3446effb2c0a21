package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const publicBase = `
plugins { required = { kitchen = { source = "./kitchen" } } }
server "a" {
  transport "kitchen" {
    url     = "x"
    token   = env("API_TOKEN")
    headers = { authorization = "Bearer literal-secret", plain = env("API_TOKEN") }
    bag     = { a = keyring("one") }
  }
  auth "bearer" {
    token = keyring("two")
  }
  timeouts {
    call = "1s"
  }
  tools {
    allow = ["get_*"]
  }
  tool "get_issue" {
    pin     = { owner = env("API_TOKEN"), api_key = "literal-secret" }
    default = { repo = "site" }
  }
}
`

// publicSettings returns the settings of the only server of a configuration.
func publicSettings(t *testing.T, text string) map[string]string {
	t.Helper()
	c, ds := loadText(t, text)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	all := map[string]string{}
	for name, value := range c.PublicSettings(c.Servers[0]) {
		all[name] = string(value)
	}
	return all
}

// TestPublicSettingsHaveNoSecret: neither values of env() and keyring() nor literals under
// names of secrets are in them.
func TestPublicSettingsHaveNoSecret(t *testing.T) {
	for name, value := range publicSettings(t, publicBase) {
		for _, secret := range []string{"s3cr3t", "literal-secret", "junctor-keyring", "/"} {
			if strings.Contains(value, secret) {
				t.Errorf("%s is %s", name, value)
			}
		}
	}
}

// TestPublicSettingsNameTheChange edits one setting at a time.
func TestPublicSettingsNameTheChange(t *testing.T) {
	before := publicSettings(t, publicBase)
	for _, test := range []struct{ old, new, want string }{
		{`url     = "x"`, `url = "y"`, "transport.url"},
		{`transport "kitchen"`, `transport "kitchen/sink"`, ""},
		{`call = "1s"`, `call = "2s"`, "timeouts.call"},
		{`["get_*"]`, `["*"]`, "tools.allow"},
		{`["get_*"]`, `[]`, "tools.allow"},
		{`"site"`, `"other"`, "tool get_issue"},
		{`owner = env("API_TOKEN")`, `owner = "acme"`, "tool get_issue"},
		{`  tools {`, "  required = true\n  tools {", "required"},
		{`  tools {`, "  prefix = \"p\"\n  tools {", "prefix"},
		{`  tools {`, "  idle = \"never\"\n  tools {", "idle"},
		{"  auth \"bearer\" {\n    token = keyring(\"two\")\n  }\n", "", "auth,auth.token"},
		// A secret cannot be seen, so neither can its change.
		{`token   = env("API_TOKEN")`, `token = "another"`, ""},
		{`keyring("one")`, `keyring("two")`, ""},
		{`api_key = "literal-secret"`, `api_key = "another"`, ""},
		{`server "a"`, "\n\nserver \"a\"", ""},
	} {
		if !strings.Contains(publicBase, test.old) {
			t.Fatalf("%q is not there", test.old)
		}
		after := publicSettings(t, strings.Replace(publicBase, test.old, test.new, 1))
		var changed []string
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if before[name] != after[name] {
				changed = append(changed, name)
			}
		}
		if got := strings.Join(changed, ","); got != test.want {
			t.Errorf("%q for %q changes %q, want %q", test.new, test.old, got, test.want)
		}
	}
}
