package languageserver

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestCompletions lists what is offered, and what is not, at places of texts that are mostly
// incomplete.
func TestCompletions(t *testing.T) {
	for _, c := range []struct{ text, want, not string }{
		{"¦", "server gateway policy locals plugins secret_store module test audit notify", "transport state"},
		{"ser¦", "server", ""},
		{"server \"a\" {\n  ¦\n}", "transport auth tool timeouts prefix idle for_each", "server http"},
		{"server \"a\" {\n  prefix = \"x\"\n  ¦\n}", "share", "prefix"},
		{"server \"a\" {\n  pre¦fix = \"x\"\n}", "prefix share", ""},
		{"server \"a\" {\n  timeouts {\n  }\n  ¦", "tools", "timeouts"},
		{"server \"a\" {\n  timeouts {\n    ¦", "start install call shutdown", "prefix"},
		{"server \"a\" {\n  share = ¦\n}", `"global" "tenant" "session" env try local.org var.region`, "adaptive"},
		{"server \"a\" {\n  share = \"¦\"\n}", "global tenant session", "local.org"},
		{"server \"a\" {\n  share = \"ten¦\n  idle = 3\n}", "tenant", ""},
		{"server \"a\" {\n  enabled = ¦\n}", "true false", `"true"`},
		{"server \"a\" {\n  context = [\"¦\n}", "subject client", ""},
		{"server \"a\" {\n  prefix = local.¦\n}", "org token", "region env"},
		{"server \"a\" {\n  prefix = \"${var.¦}\"\n}", "region", "org"},
		{"server \"a\" {\n  prefix = \"${¦}\"\n}", "local.org lower", "global"},
		{"server \"a\" {\n  for_each = [\"x\"]\n  prefix = each.¦\n}", "key value", ""},
		{"server \"a\" {\n  transport \"¦\" {\n  }\n}",
			"stdio http sse cli kitchen unknown", "bearer oauth vault keyring"},
		{"server \"a\" {\n  transport \"st¦\n}", "stdio kitchen", "bearer"},
		{"server \"a\" {\n  auth \"¦\" {\n  }\n}",
			"bearer oauth command vault/ticket vault/badge unknown", "stdio kitchen"},
		{"server \"a\" {\n  transport \"stdio\" {\n    ¦\n  }\n}", "command args env pass_env cwd", "url prefix"},
		{"server \"a\" {\n  transport \"apart\" {\n    ¦\n  }\n}", "command", ""},
		{"server \"a\" {\n  transport \"kitchen\" {\n    ¦\n  }\n}", "url mode tls rule", ""},
		{"server \"a\" {\n  transport \"kitchen\" {\n    mode = \"¦\"\n  }\n}", "fast careful", ""},
		{"server \"a\" {\n  transport \"kitchen\" {\n    tls {\n      ¦\n    }\n  }\n}", "ca pass", "url"},
		{"server \"a\" {\n  transport \"kitchen\" {\n    rule \"x\" {\n      ¦", "max tags", ""},
		{"secret_store \"¦\" {\n}", "file keyring vault", "stdio"},
		{"secret_store \"file\" {\n  ¦\n}", "path password_file password_fd", ""},
		{"gateway {\n  http {\n    auth \"¦\" {\n    }\n  }\n}", "static_token jwt certificate forwarded", "bearer"},
		{"gateway {\n  http {\n    auth \"jwt\" {\n      claims {\n        ¦\n      }\n    }\n  }\n}",
			"groups tenant", "issuer"},
		{"gateway {\n  http {\n    auth \"static_token\" {\n      roles = [\"¦\"]\n    }\n  }\n}", "dev", ""},
		{"policy {\n  allow {\n    servers = [¦]\n  }\n}", `"github"`, ""},
		{"policy {\n  allow {\n    servers = [\"¦\"]\n  }\n}", "github orders_*", "dev"},
		{"policy {\n  allow {\n    when = ¦\n  }\n}", "args principal request like within startswith local.org", ""},
		{"policy {\n  allow {\n    when = principal.¦\n  }\n}", "subject roles", "hour"},
		{"policy {\n  group \"x\" {\n    roles = [\"¦\"]\n  }\n}", "dev", ""},
		{"gateway {\n  limits {\n    tool \"¦\" {\n    }\n  }\n}", "github/*", ""},
		{"test \"x\" {\n  call \"¦\" \"y\" {\n  }\n}", "github", ""},
		{"test \"x\" {\n  call \"g\" \"y\" {\n    expect = \"¦\"\n  }\n}", "allowed depends", ""},
		{"plugin \"x\" {\n  use = \"¦\"\n}", "stdio kitchen", ""},
		{"plugin \"¦\" {\n}", "stdio kitchen", ""},
		{"server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\",\n  }\n  ¦\n}", "", "command"},
		{"server \"a\" {\n  # a comment ¦\n}", "", "prefix"},
		{"server ¦", "", "server prefix"},
		{"server \"a\" {\n  unknown {\n    ¦\n  }\n}", "", "prefix start"},
		{"server \"a\" {\n  transport \"missing\" {\n    ¦\n  }\n}", "", "command"},
		{"server \"a\" {\n  prefix = \"a¦b\"\n}", "", "local.org"},
		{"locals {\n  ¦\n}", "", "org server"},
		{"server \"a\" {\n  timeouts {\nserver \"b\" {\n}\n¦", "gateway", "start prefix"},
	} {
		v, offset := edited(t, c.text+servers)
		offered := map[string]bool{}
		for _, one := range v.complete(t.Context(), "/x/a.hcl", offset) {
			offered[one.label] = true
			text := strings.Replace(c.text+servers, cursor, "", 1)
			if one.from > offset || one.to < offset || strings.Contains(text[one.from:one.to], "\n") {
				t.Errorf("%s: %s replaces %d to %d, and the cursor is at %d",
					c.text, one.label, one.from, one.to, offset)
			}
		}
		for _, label := range strings.Fields(c.want) {
			if !offered[label] {
				t.Errorf("%s: does not offer %s, but %q", c.text, label, slices.Sorted(maps.Keys(offered)))
			}
		}
		for _, label := range strings.Fields(c.not) {
			if offered[label] {
				t.Errorf("%s: offers %s", c.text, label)
			}
		}
	}
}
