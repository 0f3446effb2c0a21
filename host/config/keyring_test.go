package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/fault"
)

const storing = `plugins { required = { kitchen = { source = "./kitchen" } } }
locals { token = keyring("github/token") }
server "a" {
  transport "kitchen" {
    url     = "x"
    token   = keyring("one")
    headers = { Authorization = "Bearer ${local.token}", Both = "${keyring("one")}, ${keyring("two")}" }
    bag     = { deep = [1, keyring("one")], text = "keyring:X:one; keyring()" }
  }
  auth "bearer" { token = local.token }
}
server "off" {
  enabled = false
  transport "stdio" { command = [keyring("never")] }
}
gateway {
  http {
    auth "static_token" {
      token   = keyring("front")
      subject = "alice"
    }
  }
}
`

// lookupIn returns a lookup in a map. It appends each name to asked.
func lookupIn(secrets map[string]string, asked *[]string) func(string) (string, error) {
	return func(name string) (string, error) {
		if asked != nil {
			*asked = append(*asked, name)
		}
		if secret, ok := secrets[name]; ok {
			return secret, nil
		}
		return "", fault.New(fault.NameUnknown, "there is no secret %q", name).WithHint("junctor secret set %s", name)
	}
}

// TestResolveInsertsSecrets checks that secrets with any characters arrive unchanged,
// and that each is looked up once.
func TestResolveInsertsSecrets(t *testing.T) {
	c, ds := loadText(t, storing)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	hostile := "a\"b\\ \n</x>\u2028, \"token\": \"" + c.keyring.Placeholder("two")
	var asked []string
	got, err := c.Resolve(c.Servers[0].Transport.Settings,
		lookupIn(map[string]string{"one": hostile, "two": "2", "github/token": "ghp_x"}, &asked))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		URL, Token string
		Headers    map[string]string
		Bag        struct {
			Deep []any
			Text string
		}
	}
	if err := json.Unmarshal(got, &settings); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if settings.URL != "x" || settings.Token != hostile || settings.Headers["Authorization"] != "Bearer ghp_x" ||
		settings.Headers["Both"] != hostile+", 2" || settings.Bag.Deep[1] != hostile ||
		settings.Bag.Text != "keyring:X:one; keyring()" {
		t.Errorf("%s", got)
	}
	slices.Sort(asked)
	if want := []string{"github/token", "one", "two"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	if got, err = c.Resolve(c.Servers[0].Auth.Settings,
		lookupIn(map[string]string{"github/token": "ghp_x"}, nil)); string(got) != `{"token":"ghp_x"}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	plain := []byte(`{"url":"x"}`)
	if got, err = c.Resolve(plain, nil); string(got) != string(plain) || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// TestResolveErrorNamesSecretAndPlace checks errors for secrets. They must not contain
// the secret.
func TestResolveErrorNamesSecretAndPlace(t *testing.T) {
	c, _ := loadText(t, storing)
	settings := c.Servers[0].Transport.Settings
	for name, test := range map[string]struct {
		lookup       func(string) (string, error)
		code         fault.Code
		message, tip string
	}{
		"absent": {lookupIn(map[string]string{"two": "2", "github/token": "t"}, nil), fault.NameUnknown,
			`there is no secret "one"`, "junctor secret set one"},
		"locked": {func(string) (string, error) { return "", errors.New("locked") }, fault.Internal, `: locked`, ""},
		"large": {func(string) (string, error) { return strings.Repeat("s3cr3t", 4000), nil }, fault.ConfigInvalid,
			`is larger than 16 KiB`, ""},
		"not UTF-8": {func(string) (string, error) { return "s3cr3t\xff", nil }, fault.ConfigInvalid,
			`is not valid UTF-8`, ""},
	} {
		got, err := c.Resolve(settings, test.lookup)
		f := fault.As(err)
		if len(got) > 0 || f.Code != test.code || !strings.Contains(f.Message, test.message) || f.Hint != test.tip ||
			!strings.HasPrefix(f.At, "junctor.hcl:") {
			t.Errorf("%s: %q, %+v", name, got, f)
		}
		if strings.Contains(fmt.Sprintf("%+v", f), "s3cr3t") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestResolveBoundsTotalSize checks a configuration that uses one secret many times.
func TestResolveBoundsTotalSize(t *testing.T) {
	c, ds := loadText(t, `plugins { required = { kitchen = { source = "./kitchen" } } }
server "a" {
  transport "kitchen" {
    url = "x"
    bag = { all = [for i in range(1000) : keyring("one")] }
  }
}
`)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	_, err := c.Resolve(c.Servers[0].Transport.Settings,
		lookupIn(map[string]string{"one": strings.Repeat("x", expression.MaxSecret)}, nil))
	if err == nil || !strings.Contains(err.Error(), "larger than 1024 KiB together") {
		t.Error(err)
	}
}

func TestKeyringListsUses(t *testing.T) {
	c, _ := loadText(t, storing)
	var got []string
	for _, use := range c.SecretUses() {
		got = append(got, use.Name+" "+use.At.String())
	}
	want := []string{"github/token junctor.hcl:2:18", "one junctor.hcl:6:15",
		"one junctor.hcl:7:68", "two junctor.hcl:7:87", "one junctor.hcl:8:28", "front junctor.hcl:19:17"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestPlaceholderDiffersInEachLoad checks that a placeholder of one load is an ordinary
// text in another.
func TestPlaceholderDiffersInEachLoad(t *testing.T) {
	one, _ := loadText(t, storing)
	fakeEnv["OLD"] = string(one.keyring.Placeholder("one"))
	defer delete(fakeEnv, "OLD")
	two, ds := loadText(t, strings.Replace(storing, `url     = "x"`, `url = env("OLD")`, 1))
	if two == nil {
		t.Fatal(rendered(ds))
	}
	got, err := two.Resolve(two.Servers[0].Transport.Settings,
		lookupIn(map[string]string{"one": "1", "two": "2", "github/token": "t"}, nil))
	if err != nil || !strings.Contains(string(got), `"url":"keyring:`) {
		t.Errorf("%s, %v", got, err)
	}
	if one.Servers[0].Fingerprint == two.Servers[0].Fingerprint {
		t.Error("another URL does not change the fingerprint")
	}
	again, _ := loadText(t, storing)
	if one.Servers[0].Fingerprint != again.Servers[0].Fingerprint {
		t.Error("the same configuration has another fingerprint")
	}
}

// TestResolveToken checks that a token from keyring() obeys the rules for tokens.
func TestResolveToken(t *testing.T) {
	c, _ := loadText(t, storing)
	token := c.Gateway.HTTP.Auth[0].Settings.(inbound.StaticToken)
	if !token.Late {
		t.Fatalf("%#v", token)
	}
	for secret, why := range map[string]string{
		"0123456789abcdef":        "",
		"":                        "the token is empty",
		"s3cr3t s3cr3t":           "white space",
		"s3cr3t\n":                "white space",
		strings.Repeat("x", 5000): "is longer than 4096 bytes",
	} {
		got, err := resolveToken(c, token, lookupIn(map[string]string{"front": secret}, nil))
		if why == "" {
			if got != secret || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			continue
		}
		if f := fault.As(err); got != "" || err == nil || !strings.Contains(f.Message, why) ||
			f.At != "junctor.hcl:19:17" || strings.Contains(f.Message, "s3cr3t") {
			t.Errorf("%q: %q, %+v", secret, got, f)
		}
	}
	if _, err := resolveToken(c, token, lookupIn(nil, nil)); fault.As(err).Code != fault.NameUnknown {
		t.Error(err)
	}
}

// resolveToken returns the token of an authenticator as it is compared.
func resolveToken(c *Config, t inbound.StaticToken, lookup func(string) (string, error)) (string, error) {
	return t.Resolve(inbound.Build{Keyring: c.keyring, Lookup: lookup})
}
