package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/policy"
)

// TestDocumentedBlocksLoad loads blocks of docs/configuration.md.
func TestDocumentedBlocksLoad(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, begin := range []string{"server \"linear\" {", "defaults {", "secret_store \"file\" {"} {
		_, text, found := strings.Cut(string(page), "```hcl\n"+begin)
		text, _, closed := strings.Cut(text, "```")
		if !found || !closed {
			t.Fatalf("the page has no block %s", begin)
		}
		c, ds := loadText(t, begin+text)
		if c == nil || len(ds) > 0 || len(c.Servers) == 1 && c.Servers[0].Auth == nil ||
			c.SecretStore != nil && c.SecretStore.File.PasswordFD != -1 {
			t.Errorf("%s: %s", begin, rendered(ds))
		}
	}
}

// TestReferencePages compares the tables of attributes in the reference pages with the
// forms. With -update it writes them.
func TestReferencePages(t *testing.T) {
	confirm := language.FormOf[confirmBlock]().Entries
	pages := map[string]map[string]string{
		"configuration.md": {
			"server": serverTable(), "defaults": defaultsTable(), "tool": formTable(language.FormOf[viewBlock]()),
			"variable": formTable(language.FormOf[expression.Variable]()),
			"plugins":  pluginsTable(), "secret_store": formTable(language.FormOf[SecretFile]()),
			"gateway": formTable(language.FormOf[Gateway]()), "audit": formTable(language.FormOf[Audit]()),
		},
		"console.md":    {"console": formTable(language.FormOf[Console]())},
		"monitoring.md": {"metrics": formTable(language.FormOf[Metrics]())},
		"permissions.md": {
			"policy": formTable(&language.Form{Entries: language.FormOf[policyBlock]().Entries}),
			"rule":   formTable(language.FormOf[ruleBlock]()), "approver": formTable(language.FormOf[approverBlock]()),
			"confirm": formTable(&language.Form{
				Entries: confirm[:len(confirm)-len(language.FormOf[ruleBlock]().Entries)],
			}),
		},
	}
	for kind, form := range (&inbound.Authentication{}).Kinds() {
		pages["configuration.md"][kind] = formTable(form)
	}
	for page, tables := range pages {
		comparePage(t, filepath.Join("..", "..", "docs", page), tables)
	}
}

// TestEveryKindOfAuthIsKnown: docs/configuration.md says what each kind of auth block recognizes, and
// package policy knows which kinds have no issuer of tokens.
func TestEveryKindOfAuthIsKnown(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "| kind | credential | recognizes |\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	for kind := range (&inbound.Authentication{}).Kinds() {
		if !strings.Contains(rows, "| `"+kind+"` | ") {
			t.Errorf("the table of kinds of auth in docs/configuration.md has no row for %s", kind)
		}
		_, isIssuer := policy.Holder{Issuer: kind}.Credential()
		if isIssuer && kind != "jwt" {
			t.Errorf("Credential in host/policy/members.go takes %s for an issuer of tokens", kind)
		}
	}
}

func comparePage(t *testing.T, path string, tables map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name, table := range tables {
		begin := fmt.Sprintf("<!-- %s attributes: written by go test ./host/config -run Page -update -->\n", name)
		before, rest, opened := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, "<!-- end -->\n")
		if !opened || !closed {
			t.Fatalf("%s has no table after %q", path, begin)
		}
		page = before + begin + table + "<!-- end -->\n" + after
	}
	switch {
	case page == string(text):
	case *update:
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the tables of %s differ from the forms; run go test ./host/config -run Page -update", path)
	}
}

const tableHead = "| attribute | value | default | meaning |\n|---|---|---|---|\n"

// serverTable documents the attributes of server blocks.
func serverTable() string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, a := range language.AttributesOf[Server]("") {
		b.WriteString(row(a.Path(), a.Entry))
	}
	return b.String()
}

// formTable documents the attributes of a form and of the blocks in it.
func formTable(f *language.Form) string { return tableHead + rows(f, "", map[*language.Form]string{}) }

// pluginsTable documents the attributes of plugins and plugin blocks.
func pluginsTable() string {
	var b strings.Builder
	b.WriteString(tableHead)
	b.WriteString(row("required", language.FormOf[pluginsBlock]().Entries[0]))
	for _, e := range language.FormOf[requiredPlugin]().Entries {
		b.WriteString(row("required.NAME."+e.Name, e))
	}
	return b.String() + rows(language.FormOf[pluginSettings](), "plugin.", map[*language.Form]string{})
}

func rows(f *language.Form, prefix string, seen map[*language.Form]string) string {
	var b strings.Builder
	for _, e := range f.Entries {
		b.WriteString(row(prefix+e.Name, e))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Blocks)) {
		block := f.Blocks[name]
		path := prefix + name
		if block.Body == nil {
			fmt.Fprintf(&b, "| `%s \"KIND\" { }` | block | – | %s |\n", path, block.Doc)
			continue
		}
		doc := block.Doc
		if first, both := seen[block.Body]; both {
			doc += " It has the attributes of `" + first + "`."
		}
		fmt.Fprintf(&b, "| `%s%s { }` | block | – | %s |\n", path, block.Example(), doc)
		if seen[block.Body] == "" {
			seen[block.Body] = path
			b.WriteString(rows(block.Body, path+".", seen))
		}
	}
	return b.String()
}

func row(path string, e language.Entry) string {
	unset := cmp.Or(e.Unset, "–")
	if e.Required {
		unset = "required"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", path, e.Values.Accepts, unset, e.Doc)
}

// defaultsTable documents which of them a defaults block may hold.
func defaultsTable() string {
	var b strings.Builder
	b.WriteString("| attribute | applies to |\n|---|---|\n")
	for _, a := range language.AttributesOf[Server]("defaults") {
		fmt.Fprintf(&b, "| `%s` | every server without it |\n", a.Path())
	}
	b.WriteString("| `env` | every transport with this setting, each variable separately; `keyring()` is an error, because it would pass one stored secret to all servers |\n")
	b.WriteString("| `pass_env` | every transport with this setting; a server's own list replaces it |\n")
	return b.String()
}

// TestServerAttributesAreDocumentedAndTested checks that every attribute has a
// sentence, and is in the example and in the fixture with all attributes.
func TestServerAttributesAreDocumentedAndTested(t *testing.T) {
	for _, path := range []string{filepath.Join("..", "..", "examples", "language.hcl"), filepath.Join("..", "..",
		"testdata", "config", "ok-server-attributes.hcl")} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range language.AttributesOf[Server]("") {
			if !regexp.MustCompile(`(?m)^\s*` + a.Name + `\s*=`).Match(text) {
				t.Errorf("%s does not set %s", path, a.Path())
			}
		}
	}
}

// TestGatewayPageHasTheLimits compares the limits in docs/gateway.md with the defaults.
func TestGatewayPageHasTheLimits(t *testing.T) {
	text, err := os.ReadFile("../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| ([0-9][^|]*) \\|").
		FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[2]
	}
	h := loadGood(t, "gateway {\n  http {\n    per_ip {\n    }\n  }\n}\n").Gateway.HTTP
	for name, is := range map[string]any{
		"max_in_flight": h.MaxInFlight, "sessions.max": h.Sessions.Max, "sessions.events": h.Sessions.Events,
		"per_ip.rate": h.PerIP.Rate, "per_ip.burst": h.PerIP.Burst,
		"per_ip.connections": h.PerIP.Connections, "max_body": fmt.Sprintf("%d MiB", h.MaxBody>>20),
		"sessions.idle": h.Sessions.Idle, "sessions.life": h.Sessions.Life,
		"timeouts.header": h.Timeouts.Header, "timeouts.body": h.Timeouts.Body, "timeouts.send": h.Timeouts.Send,
		"timeouts.keepalive": h.Timeouts.Keepalive, "timeouts.drain": h.Timeouts.Drain,
		"timeouts.ready_delay": h.Timeouts.ReadyDelay,
	} {
		got := documented[name]
		delete(documented, name)
		if d, ok := is.(time.Duration); ok {
			if written, err := time.ParseDuration(got); err == nil && written == d {
				continue
			}
		} else if got == fmt.Sprint(is) {
			continue
		}
		t.Errorf("%s is %v, the page says %q", name, is, got)
	}
	for name := range documented {
		t.Errorf("the page has an unknown limit %q", name)
	}
}
