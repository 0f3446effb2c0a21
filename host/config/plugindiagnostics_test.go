package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

const refusable = `plugins { required = { kitchen = { source = "./kitchen" } } }
server "a" {
  transport "kitchen" {
    url     = "https://x"
    token   = "hunter2"
    headers = { Host = "x", Authorization = env("API_TOKEN") }
    tls {
      ca   = "x"
      pass = "line\nbreak"
    }
  }
}
`

// TestSettingsDiagnosticsHasPlaceAndSourceLine checks several complaints. They are sorted by place.
func TestSettingsDiagnosticsHasPlaceAndSourceLine(t *testing.T) {
	c, ds := loadText(t, refusable)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	got := c.Servers[0].SettingsDiagnostics([]*sdk.Error{
		{Code: sdk.Invalid, Path: `headers["Host"]`, Message: "is not a host", Hint: "write a name"},
		sdk.AttrErrorf("token", "%q is too short", "hunter2"),
		sdk.AttrErrorf("tls.pass", "%q is bad\nand %s and s3cr3t-from-env too", "line\nbreak", "line\nbreak"),
		sdk.AttrErrorf("retries", "must be set"),
		sdk.Errorf(sdk.Invalid, "will not do"),
	})
	const want = `error: retries: must be set
  at junctor.hcl:3:3, in server "a"
  3 |   transport "kitchen" {
    |   ^^^^^^^^^^^^^^^^^^^
  code: upstream.settings

error: will not do
  at junctor.hcl:3:3, in server "a"
  3 |   transport "kitchen" {
    |   ^^^^^^^^^^^^^^^^^^^
  code: upstream.settings

error: token: "***" is too short
  at junctor.hcl:5:5, in server "a"
  5 |     token   = "***"
    |     ^^^^^
  code: upstream.settings

error: headers["Host"]: is not a host
  at junctor.hcl:6:24, in server "a"
  6 |     headers = { Host = "x", Authorization = env("API_TOKEN") }
    |                        ^^^
  hint: write a name
  code: upstream.settings

error: tls.pass: "***" is bad
  at junctor.hcl:9:7, in server "a"
  9 |       pass = "***"
    |       ^^^^
  and *** and *** too
  code: upstream.settings
`
	if rendered(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", rendered(got), want)
	}
	if f := fault.As(got.Err()); f.Code != fault.ConfigInvalid || !strings.Contains(f.Message, "has 5 errors") {
		t.Errorf("%+v", f)
	}
	if ds := c.Servers[0].SettingsDiagnostics(nil); ds != nil {
		t.Errorf("%+v", ds)
	}
}

func TestSettingsDiagnosticsOfAuthAndSecretStore(t *testing.T) {
	c, ds := loadText(t, `secret_store "keyring" {
  service = "x"
}
server "a" {
  transport "http" {
    url = "x"
  }
  auth "bearer" {
    token = env("API_TOKEN")
  }
}
`)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	got := c.Servers[0].Auth.SettingsDiagnostics([]*sdk.Error{sdk.AttrErrorf("token", "%q will not do",
		"s3cr3t-from-env")})
	got = append(got, c.SecretStore.SettingsDiagnostics([]*sdk.Error{sdk.AttrErrorf("service", "is taken")})...)
	const want = `error: token: "***" will not do
  at junctor.hcl:9:5, in server "a"
  9 |     token = env("API_TOKEN")
    |     ^^^^^
  code: upstream.settings

error: service: is taken
  at junctor.hcl:2:3, in secret_store "keyring"
  2 |   service = "x"
    |   ^^^^^^^
  code: upstream.settings
`
	if rendered(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", rendered(got), want)
	}
	if at := c.Servers[0].Auth.PositionOf("header").String(); at != "junctor.hcl:8:3" {
		t.Error(at)
	}
}

func TestSettingsDiagnosticsIsBounded(t *testing.T) {
	c, _ := loadText(t, refusable)
	var all []*sdk.Error
	for i := range 1000 {
		all = append(all, sdk.AttrErrorf(fmt.Sprintf("a%d", i), "is bad"))
	}
	got := c.Servers[0].SettingsDiagnostics(all)
	if len(got) != source.MaxDiagnostics+1 || got[source.MaxDiagnostics].Summary != "and 950 more problems" {
		t.Errorf("%d diagnostics, the last: %+v", len(got), got[len(got)-1])
	}
}

// TestHiddenTexts checks the list of texts that are masked in a plugin's messages.
func TestHiddenTexts(t *testing.T) {
	for _, c := range []struct{ settings, shown, want string }{
		{`{"a":"x","b":"y"}`, `{"a":"x","b":"(sensitive)"}`, `["y"]`},
		{`{"a":["x","y"],"n":5,"m":1.50}`, `{"a":["x","(sensitive)"],"n":5,"m":"(sensitive)"}`, `["1.50","y"]`},
		{`{"a":{"b":["x"]}}`, `{"a":"(sensitive)"}`, `["b","x"]`},
		{`{"a":["x"]}`, `{"a":"(sensitive)"}`, `["x"]`},
		{`{"a":true,"b":null}`, `{"a":"(sensitive)","b":null}`, `null`},
		{`{}`, `{}`, `null`},
		{``, ``, `null`},
	} {
		texts := hiddenTexts([]byte(c.settings), []byte(c.shown))
		if len(texts) > 1 && texts[0] > texts[1] {
			texts[0], texts[1] = texts[1], texts[0]
		}
		if got, _ := json.Marshal(texts); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.settings, got, c.want)
		}
	}
}
