//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/telemetry/otlptest"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// A canary is a secret in one place where a secret can stand. Text that has its core has the
// secret, or the beginning of it: the core has only letters and digits, so that escapes of
// URLs, of JSON and of HTML do not hide it.
type canary struct {
	place string
	tail  string // after the core
}

func (c canary) core() string  { return canaryMark + c.place + "x9" }
func (c canary) value() string { return c.core() + c.tail }

// odd has characters that URLs, JSON and HTML escape.
const oddTail = "/7f3&9c+2e=b8<d1>046"

// canaries are the secrets by their places.
var canaries = map[string]canary{
	"C_ARGS": {"ARGS", oddTail}, "C_ENV": {"ENV", oddTail},
	"C_HEADER": {"HEADER", oddTail}, "C_QUERY": {"QUERY", "/7f3@9c:2e"},
	"C_USERINFO": {"USERINFO", "7f39c"}, "C_OAUTH": {"OAUTH", "/7f39c+2e="},
	"C_CLI": {"CLI", oddTail}, "C_NAME": {"NAME", "7f39c2e"}, "C_HOOK": {"HOOK", "/7f39c+2eb8d1046"},
	"C_TOKEN": {"TOKEN", "7f39c2eb8d1046"}, "C_JWT": {"JWT", "7f39c2eb8d1046000011112222"},
	"JUNCTOR_VAR_team": {"VARIABLE", oddTail},
}

// Secrets that no variable of the environment has.
var (
	canaryFile     = canary{"FILE", oddTail}
	canaryStored   = canary{"STORED", oddTail}
	canaryBearer   = canary{"BEARER", "/7f39c+2e"}
	canaryGate     = canary{"GATE", "7f39c2eb8d1046"}
	canaryPassword = canary{"PASSWORD", oddTail}
	canaryProxy    = canary{"PROXY", "7f39c2e"}
	canaryExport   = canary{"EXPORT", "7f39c2e"}
	canaryUnknown  = canary{"UNKNOWN", "7f39c2eb8d1046"}
	canaryBasic    = canary{"BASIC", "/7f39c"}
	canaryNamed    = canary{"ARGUMENT", oddTail}
	canaryAccess   = canary{"ACCESS", "7f39c2eb8d1046"}
	canaryRefresh  = canary{"REFRESH", "7f39c2eb8d1046"}
)

// A canarySite is a gateway with a secret in every place where one can stand.
type canarySite struct {
	*gatewaySite
	dir     *reloadDir
	metrics string
	account *plugintest.Vendor // has an account that a person logs in to
	hook    *canaryHook
	spans   *otlptest.Receiver
	secrets map[string][]string // texts that no output may have, by their places
}

// newCanarySite writes the configuration, stores secrets and starts the process.
func newCanarySite(t *testing.T) *canarySite {
	t.Helper()
	d := newReloadDir(t)
	for _, name := range []string{"http", "bearer", "oauth", "cli"} {
		build(t, filepath.Join(d.site.dir, "plugins", "junctor-plugin-"+name), "./plugins/"+name)
	}
	build(t, filepath.Join(d.site.dir, "plugins", "junctor-sandbox"), "./plugins/internal/launcher")
	s := &canarySite{dir: d, metrics: freeAddress(t), account: plugintest.NewVendor(t), hook: newCanaryHook(t),
		spans: otlptest.NewReceiver(t), secrets: map[string][]string{}}
	for name, c := range canaries {
		d.site.env = append(d.site.env, name+"="+c.value())
		s.hideOf(c)
	}
	for _, c := range []canary{canaryFile, canaryStored, canaryBearer, canaryGate, canaryPassword, canaryProxy,
		canaryExport, canaryUnknown, canaryBasic, canaryNamed, canaryAccess, canaryRefresh} {
		s.hideOf(c)
	}
	proxy := fmt.Sprintf("http://zaphod:%s@127.0.0.1:1", canaryProxy.value())
	d.site.env = append(d.site.env, "HTTP_PROXY="+proxy, "HTTPS_PROXY="+proxy, "NO_PROXY=", "NO_BROWSER=1", "CI=",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+s.spans.URL,
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20"+canaryExport.value(), "OTEL_BSP_SCHEDULE_DELAY=50",
		"OTEL_METRIC_EXPORT_INTERVAL=200")
	s.gatewaySite = &gatewaySite{reloadSite: d.newSite()}
	s.put("secret.txt", canaryFile.value())
	s.put("password", canaryPassword.value()+"\n")
	s.put("shop", "#!/bin/sh\nprintf 'no shop for %s\\n' \"$SHOP_TOKEN\" \"$@\" >&2\nexit 7\n")
	if err := os.Chmod(filepath.Join(d.site.dir, "shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.put("junctor.hcl", s.configuration(newLeakyVendor(t), freePort(t)))
	for name, c := range map[string]canary{"stored": canaryStored, "bearer": canaryBearer, "gate": canaryGate} {
		set := d.command("secret", "set", name)
		set.Stdin = strings.NewReader(c.value())
		if out, err := set.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.start("serve", "--http", "--log", "trace")
	return s
}

// hideOf adds a canary to the texts that no output may have: its core, and the base64 of a
// text with it, at each alignment.
func (s *canarySite) hideOf(c canary) {
	core := c.core()
	texts := []string{core}
	for skip := range 3 { // of the core, so that base64 begins with a whole group
		whole := core[skip:]
		texts = append(texts, base64.StdEncoding.EncodeToString([]byte(whole[:len(whole)/3*3])))
	}
	s.secrets[c.place] = texts
}

func (s *canarySite) configuration(vendor *httptest.Server, console string) string {
	return strings.NewReplacer("$VENDOR", vendor.URL, "$METRICS", s.metrics, "$HOOK", s.hook.url, "$CONSOLE", console,
		"$ACCOUNT", s.account.URL).Replace(`
variable "team" {
  sensitive = true
}
secret_store "file" {
  password_file = "password"
}
defaults {
  share = "global"
}
server "leaky" {
  transport "stdio" {
    command = ["leaker", "--token", env("C_ARGS")]
    env = {
      FROM_ENV = env("C_ENV"), FROM_FILE = file("secret.txt"), FROM_VARIABLE = var.team, FROM_STORE = keyring("stored"), LEAKED_NAME = env("C_NAME")
    }
  }
}
server "remote" {
  transport "http" {
    url     = "$VENDOR/mcp?key=${env("C_QUERY")}"
    headers = { X-Api-Key = env("C_HEADER") }
  }
}
server "broken" {
  transport "http" {
    url     = "$VENDOR/broken?key=${env("C_QUERY")}"
    headers = { Authorization = "Basic ${base64encode("zaphod:${env("C_HEADER")}")}" }
  }
}
server "moved" {
  transport "http" {
    url = "$VENDOR/moved?key=${env("C_QUERY")}"
  }
}
server "locked" {
  transport "http" {
    url = "$VENDOR/locked"
  }
  auth "bearer" {
    token = keyring("bearer")
  }
}
server "owned" {
  transport "http" {
    url = "$VENDOR/owned"
  }
  auth "oauth" {
    grant         = "client_credentials"
    issuer        = "$VENDOR"
    client_id     = "junctor"
    client_secret = env("C_OAUTH")
  }
}
server "account" {
  transport "http" {
    url = "$ACCOUNT"
  }
  auth "oauth" {}
}
server "proxied" {
  transport "http" {
    url = "http://mcp.example.invalid/mcp"
  }
}
server "shop" {
  transport "cli" {
    command = ["./shop"]
    env     = { SHOP_TOKEN = env("C_CLI") }
    tool "buy" {
      description = "Buys."
      argv        = ["buy", "--key", env("C_CLI")]
      access      = "read"
    }
  }
}
server "userinfo" {
  transport "http" {
    url = "http://zaphod:${env("C_USERINFO")}@127.0.0.1:9/mcp"
  }
}
policy {
  default = "allow"
  confirm {
    tools = ["asks"]
  }
}
telemetry {
  metrics {
    listen = "$METRICS"
  }
}
console {
  listen = "127.0.0.1:$CONSOLE"
}
notify {
  webhook = "$HOOK"
  secret  = env("C_HOOK")
}
audit {
  file      = "audit.db"
  sync      = "full"
  arguments = "full"
  results   = "full"
}
gateway {
  http {
    listen = "127.0.0.1:0"
    auth "jwt" {
      issuer    = "our own programs"
      audiences = ["https://mcp.example.com/mcp"]
      secret    = env("C_JWT")
    }
    auth "static_token" {
      subject = "ann"
      token   = env("C_TOKEN")
    }
    auth "static_token" {
      subject = "bob"
      token   = keyring("gate")
    }
  }
}
`)
}
