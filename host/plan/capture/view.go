// Package capture makes the view of a configuration in effect, as package plan compares it.
//
// Package host calls it for the configuration in effect and for a new one. It reads the catalog and
// asks the policy; it changes nothing and keeps nothing.
package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/plan"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/policy/check"
	"github.com/junctor-mcp/junctor/host/tokencount"
)

// everyone names the principal of a view that has no name, no role and no group.
const everyone = "everyone"

// A Source is a configuration in effect, and what is known of its servers.
type Source struct {
	Config  *config.Config
	Catalog *catalog.Catalog
	Policy  *policy.Policy
	Serves  func(server string) bool // false: its items are those of another configuration
	Hide    func(text string) string // masks secrets
}

// View returns what clients see of a configuration. It contacts no server: the lists are
// those of the catalog. It returns nil if ctx ends first.
func View(ctx context.Context, from *Source) *plan.View {
	who := from.viewPrincipals()
	var names []string
	for _, p := range who {
		names = append(names, p.name)
	}
	// before the items: a server that is known now has its items then
	v := plan.New(from.viewServers(), names, ruleTexts(from.Config))
	v.Blocks, v.Unread = from.viewBlocks(), from.Config.Unread
	places := from.shortPlaces()
	for i, it := range from.viewItems() {
		if i%256 == 0 && ctx.Err() != nil {
			return nil
		}
		if !v.Fits() {
			v.LeftOut++
			continue
		}
		v.Add(it.entry(from.Hide), from.decisionsOn(&it, who, places))
	}
	return v
}

// A viewPrincipal is a principal of a view.
type viewPrincipal struct {
	name string
	who  authn.Principal
}

func (from *Source) viewPrincipals() []viewPrincipal {
	all := []viewPrincipal{{everyone, authn.Principal{Tenant: authn.DefaultTenant}}}
	for _, p := range check.NamedPrincipals(from.Config) {
		all = append(all, viewPrincipal{p.String(), p.Who})
	}
	return all
}

// viewServers returns the server blocks with digests of their settings.
func (from *Source) viewServers() (all []plan.Server) {
	for _, s := range from.Config.Servers {
		one := plan.Server{Name: s.Name, Enabled: s.Enabled, Blocked: s.Blocked}
		if s.Enabled {
			one.Lists = from.listsKnown(s.Name)
			one.Settings = map[string]string{}
			for name, value := range from.Config.PublicSettings(s) {
				one.Settings[name] = plan.DigestOf(value)
			}
			one.Fingerprint = Fingerprint(from.Config, s)
		}
		all = append(all, one)
	}
	return all
}

// Fingerprint returns a digest of the settings of the transport and the auth provider
// of a server, without secrets.
func Fingerprint(c *config.Config, s *config.Server) string {
	connection := map[string]json.RawMessage{}
	for name, value := range c.PublicSettings(s) {
		if block, _, _ := strings.Cut(name, "."); block == "transport" || block == "auth" {
			connection[name] = value
		}
	}
	return plan.DigestOf(sortedJSON(connection))
}

// ruleTexts returns the policies in words, without places: rules that have only moved have
// equal texts.
func ruleTexts(c *config.Config) (all []string) {
	add := func(prefix string, rules policy.Rules) {
		for _, text := range rules.InWords() {
			all = append(all, prefix+text)
		}
	}
	add("", c.Policy)
	for i, layer := range c.Policies {
		add(fmt.Sprintf("layer %d: ", i+1), layer)
	}
	add("managed: ", c.Managed.Policy)
	return all
}

// viewBlocks returns digests of the settings of the blocks about the whole process.
func (from *Source) viewBlocks() map[string]map[string]string {
	all := map[string]map[string]string{}
	for block, settings := range from.Config.PublicBlocks() {
		all[block] = map[string]string{}
		for name, value := range settings {
			all[block][name] = plan.DigestOf(value)
		}
	}
	return all
}

// listsKnown says what is known of the lists of a server; see plan.Server.
func (from *Source) listsKnown(server string) string {
	switch _, known := from.Catalog.Known(server); {
	case !known:
		return plan.Unknown
	case from.Catalog.Unfinished(server) != nil:
		return plan.Partial
	}
	return plan.Known
}

// A viewItem is an item of the catalog for a view.
type viewItem struct {
	*catalog.Item
	kind policy.Kind
	tool *catalog.Tool // nil for other items

	arguments []byte // of a prompt, as JSON
	defaults  bool   // the configuration sets defaults in the schema, which may be secrets
}

// viewItems returns the items of the enabled servers, sorted and without duplicates.
func (from *Source) viewItems() (all []viewItem) {
	defaults := map[policy.Item]bool{}
	for _, s := range from.Config.Servers {
		for _, v := range s.Views {
			defaults[policy.Item{Server: s.Name, Kind: policy.Tool, Name: v.Tool}] = len(v.Default) > 0
		}
	}
	s := from.Catalog.Snapshot()
	for _, t := range s.Tools {
		all = append(all, viewItem{
			Item:     &t.Item,
			kind:     policy.Tool,
			tool:     t,
			defaults: defaults[policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}],
		})
	}
	for _, r := range s.Resources {
		all = append(all, viewItem{Item: r, kind: policy.Resource})
	}
	for _, t := range s.Templates {
		all = append(all, viewItem{Item: &t.Item, kind: policy.Template})
	}
	for _, p := range s.Prompts {
		all = append(all, viewItem{Item: &p.Item, kind: policy.Prompt, arguments: mcp.Member(p.Raw, "arguments")})
	}
	all = slices.DeleteFunc(all, func(it viewItem) bool { return !from.Serves(it.Server) }) // of another generation
	compare := func(a, b viewItem) int { return plan.CompareItems(a.key(), b.key()) }
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b viewItem) bool { return compare(a, b) == 0 })
}

// key returns the parts of the entry that identify the item.
func (it *viewItem) key() plan.Item {
	return plan.Item{Server: it.Server, Kind: string(it.kind), Name: it.Name}
}

// entry returns the entry of a view. hide masks secrets in names.
func (it *viewItem) entry(hide func(string) string) plan.Item {
	e := it.key()
	e.Name, e.Exposed, e.Access = hide(e.Name), hide(it.Exposed), policy.Read.String()
	raw, input := it.Raw, it.arguments
	if it.tool != nil {
		e.Access, e.Tokens, input = it.tool.Class.Kind.String(), it.tool.Tokens(), it.tool.Input
		if it.defaults {
			input = withoutDefaults(input)
			raw = mcp.SetMember(raw, "inputSchema", input)
		}
	} else {
		e.Tokens = tokencount.Estimate(len(raw))
	}
	id := map[policy.Kind]string{policy.Resource: "uri", policy.Template: "uriTemplate"}[it.kind]
	if id == "" {
		id = "name"
	}
	e.Description = plan.DigestOf([]byte(it.Description))
	e.Schema = plan.DigestOf(input)
	e.Entry = plan.DigestOf(mcp.SetMember(raw, id, []byte(`""`)))
	return e
}

// decisionsOn returns the decisions of the policy about an item in a list: those that
// junctor why explains without arguments. places shortens the places of rules.
func (from *Source) decisionsOn(it *viewItem, who []viewPrincipal, places *strings.Replacer) plan.Decisions {
	all := plan.Decisions{}
	q := policy.Query{Item: policy.Item{Server: it.Server, Kind: it.kind, Name: it.Name}}
	if it.tool != nil {
		q.Access, q.Unconfigured, q.Args = it.tool.Class.Kind, it.tool.Unconfigured, it.tool.Fixed()
	}
	for i := range who {
		q.Principal, q.AnyRequest = &who[i].who, who[i].who.Method != authn.Local().Method
		d := from.Policy.List(&q)
		all[who[i].name] = plan.Decision{
			Decision: d.Verdict.String(),
			Rule:     places.Replace(d.Rule),
			Approval: d.Approval().InWords(),
		}
	}
	return all
}

// shortPlaces returns a replacer that removes the directory of the configuration from
// places, and replaces that of a weaker layer by its number. Places are then the same from
// wherever the configuration is read.
func (from *Source) shortPlaces() *strings.Replacer {
	type place struct{ prefix, short string }
	var places []place
	for i, path := range append([]string{from.Config.Path}, from.Config.Under...) {
		dir := path
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir = filepath.Dir(dir)
		}
		short := ""
		if i > 0 {
			short = fmt.Sprintf("layer %d: ", i)
		}
		if dir != "." {
			prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
			places = append(places, place{" " + prefix, " " + short})
		}
	}
	// A layer may be below the directory of another one.
	slices.SortStableFunc(places, func(a, b place) int { return len(b.prefix) - len(a.prefix) })
	var pairs []string
	for _, p := range places {
		pairs = append(pairs, p.prefix, p.short)
	}
	return strings.NewReplacer(pairs...)
}

// withoutDefaults returns a schema without any default value.
func withoutDefaults(schema []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil // impossible: the catalog has parsed it
	}
	dropDefaults(v)
	return sortedJSON(v)
}

// dropDefaults removes the members called default, also of a property with that name. The
// depth of v is that of a message, which is bounded.
func dropDefaults(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "default")
		for _, member := range v {
			dropDefaults(member)
		}
	case []any:
		for _, element := range v {
			dropDefaults(element)
		}
	}
}

// sortedJSON encodes a value with sorted members.
func sortedJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: it came from JSON
	}
	return b
}
