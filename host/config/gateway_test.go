package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/limit"
)

// loadGood loads a text without errors.
func loadGood(t *testing.T, text string) *Config {
	t.Helper()
	c, ds := loadText(t, text)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	return c
}

// TestGatewayDefaults checks the settings without a gateway block, and that they cause
// no warning.
func TestGatewayDefaults(t *testing.T) {
	c, ds := loadText(t, "")
	if c == nil || len(ds) > 0 {
		t.Fatal(rendered(ds))
	}
	want := `{"MaxMemory":536870912,"HTTP":{"Given":false,"At":{"File":"","Line":0,"Column":0},"Listen":"127.0.0.1:7575","SocketMode":384,` +
		`"Origins":null,"Hosts":null,"MaxBody":1048576,"MaxInFlight":500,"LegacySSE":false,"Plaintext":false,` +
		`"Timeouts":{"Header":10000000000,"Body":30000000000,"Send":5000000000,"Keepalive":15000000000,"Drain":10000000000},"PerIP":null,` +
		`"Sessions":{"Store":"disk","Max":1000,"Idle":300000000000,"Life":86400000000000,"Events":10000},"TLS":null,"Auth":null}}`
	if got, err := json.Marshal(c.Gateway); string(got) != want {
		t.Errorf("%v\n%s\nwant:\n%s", err, got, want)
	}
	for _, text := range []string{"gateway {\n}\n", "gateway {\n}\nlocals {\n}\n"} {
		if c, ds := loadText(t, text); c == nil || len(ds) > 0 || c.Gateway.HTTP.Given ||
			c.Gateway.HTTP.Timeouts.Send != 5*time.Second {
			t.Errorf("%q: %s", text, rendered(ds))
		}
	}
}

func TestMemoryDefaultGrowsWithTheLargestMessage(t *testing.T) {
	block := "server \"s\" {\n  max_message = %q\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n}\n"
	for size, want := range map[string]int{"16MiB": 512 << 20, "128MiB": 512 << 20, "256MiB": 1024 << 20} {
		if got := loadGood(t, fmt.Sprintf(block, size)).Gateway.MaxMemory; got != want {
			t.Errorf("%s: %d", size, got)
		}
	}
	if got := loadGood(t,
		fmt.Sprintf(block, "256MiB")+"gateway {\n  max_memory = \"1024MiB\"\n}\n").Gateway.MaxMemory; got != 1024<<20 {
		t.Error(got)
	}
}

func TestNullSelectsTheDefault(t *testing.T) {
	c := loadGood(t, `
gateway {
  http {
    listen        = null
    socket_mode   = null
    origins       = null
    hosts         = null
    max_body      = null
    max_in_flight = null
    legacy_sse    = null
    timeouts {
      send = null
    }
    per_ip {
      rate  = null
      burst = null
    }
    sessions {
      store = null
      idle  = null
    }
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
      tenant  = null
      roles   = null
    }
  }
}
`)
	h := c.Gateway.HTTP
	if h.Listen != "127.0.0.1:7575" || len(h.Origins) != 0 || h.MaxBody != 1<<20 || h.MaxInFlight != 500 ||
		*h.PerIP != (RateLimit{60, 120, 256}) || h.Sessions.Store != "disk" ||
		h.Auth[0].Settings.(inbound.StaticToken).Tenant != "default" {
		t.Errorf("%+v", h)
	}
}

// TestTokensAreReadAndNeverPrinted checks tokens from all sources. The last line end of
// a file is not part of its token.
func TestTokensAreReadAndNeverPrinted(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "testdata", "config"))
	c := loadGood(t, `
locals { second = "literal-of-a-local" }
gateway {
  http {
    auth "static_token" {
      token   = file("token.txt")
      subject = "alice"
    }
    auth "static_token" {
      token   = local.second
      subject = "bob"
    }
    auth "static_token" {
      token   = upper(env("LONG_TOKEN"))
      subject = "carol"
    }
    auth "static_token" {
      token   = env("NOT_SET", "the-way-out-of-an-unset-variable")
      subject = "dave"
    }
  }
}
`)
	want := []string{"token-of-a-file-0815", "literal-of-a-local", "S3CR3T-FROM-ENV-0123456789ABCDEF",
		"the-way-out-of-an-unset-variable"}
	var got []string
	for _, a := range c.Gateway.HTTP.Auth {
		got = append(got, a.Settings.(inbound.StaticToken).Token)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	printed := string(asJSON) + fmt.Sprintf("%v %+v %#v", c.Gateway, c.Gateway.HTTP.Auth, c.Gateway.HTTP.Auth)
	for _, token := range want {
		if strings.Contains(printed, token) {
			t.Errorf("%s is in %s", token, printed)
		}
		if hidden := c.Conceal("a plugin says: " + token + "!"); hidden != "a plugin says: ***!" {
			t.Error(hidden)
		}
	}
}

// TestTokenInFileIsWarnedOf checks that literals are reported also behind functions, and
// that values from env() are not reported.
func TestTokenInFileIsWarnedOf(t *testing.T) {
	for expression, want := range map[string]int{
		`"literal-of-the-file"`:                   1,
		`local.token`:                             1,
		`env("NOT_SET", "literal-of-a-fallback")`: 1,
		`"short"`:                                  2,
		`env("API_TOKEN")`:                         1, // short
		`env("LONG_TOKEN")`:                        0,
		`"Junctor-${env("LONG_TOKEN")}"`:           0,
		`base64encode(env("LONG_TOKEN"))`:          0,
		`try(env("NOT_SET"), env("LONG_TOKEN"))`:   0,
		`env("LONG_TOKEN", "not-used-not-needed")`: 0,
	} {
		c, ds := loadText(t, "locals {\n  token = \"literal-of-a-local\"\n}\ngateway {\n  http {\n    auth \"static_token\" {\n      subject = \"a\"\n      token   = "+
			expression+"\n    }\n  }\n}\n")
		if c == nil || len(ds) != want {
			t.Errorf("%s: want %d warnings\n%s", expression, want, rendered(ds))
		}
	}
}

// TestDocumentedGatewayHasTheDefaults compares the block in docs/configuration.md with
// the defaults.
func TestDocumentedGatewayHasTheDefaults(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "```hcl\ngateway {")
	text, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatal("the page has no gateway block")
	}
	fakeEnv["JUNCTOR_TOKEN"] = "a-token-of-the-documentation"
	defer delete(fakeEnv, "JUNCTOR_TOKEN")
	got, ds := loadText(t, "gateway {"+text)
	if got == nil || len(ds) > 0 {
		t.Fatal(rendered(ds))
	}
	said, usual := got.Gateway.HTTP, loadGood(t, "").Gateway.HTTP
	if *said.PerIP != (RateLimit{Rate: 60, Burst: 120, Connections: 256}) || len(said.Hosts) != 1 ||
		len(said.Origins) != 1 || said.TLS.ClientCA == "" || len(said.Auth) != 1 {
		t.Errorf("%+v", said)
	}
	said.Given, said.At, said.Hosts, said.Origins, said.PerIP, said.TLS, said.Auth, said.origin = false,
		source.Position{}, nil, nil, nil, nil, nil, usual.origin
	if !reflect.DeepEqual(said, usual) {
		t.Errorf("documented:\n%+v\nthe defaults:\n%+v", said, usual)
	}
}

// TestConnectionsToOneServerAreDocumented compares the page with the default of package limit.
func TestConnectionsToOneServerAreDocumented(t *testing.T) {
	unset := language.FormOf[Limits]().Entry("connections").Unset
	if unset != fmt.Sprintf("`%d`", limit.DefaultConnections) {
		t.Errorf("connections: %s by default, the package says %d", unset, limit.DefaultConnections)
	}
}
