package items

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
)

// CompleteCall completes a tool and its arguments.
func CompleteCall(app *host.App, before []string, typed string) ([]cobra.Completion, bool) {
	if len(before) == 0 {
		return CompleteTool(app, before, typed)
	}
	server, name, named := split(app, before[0])
	t, ok := app.Catalog.Snapshot().Tool(name)
	if named {
		t, ok = app.Catalog.Snapshot().OwnTool(server, name)
	}
	if !ok {
		return nil, false
	}
	return completeArguments(schema.Properties(t.Input), before[1:], typed)
}

// CompleteTool completes the name of a tool, as SERVER/NAME if the slash is typed.
func CompleteTool(app *host.App, before []string, typed string) (words []cobra.Completion, _ bool) {
	if len(before) > 0 {
		return nil, false
	}
	for _, t := range app.Catalog.Snapshot().Tools {
		if app.Gateway.Visible(authn.Local(), policy.Tool, t.Server, t.Name) {
			words = invocation.Offer(words, typedName(&t.Item, typed), Described(&t.Item))
		}
	}
	return words, false
}

// typedName returns the name of an item in the form in which it is being typed.
func typedName(i *catalog.Item, typed string) string {
	if strings.Contains(typed, "/") {
		return i.Server + "/" + i.Name
	}
	return i.Exposed
}

// completeArguments completes key= for the missing arguments, and the value if there are
// few possible ones.
func completeArguments(properties []schema.Property, before []string,
	typed string) (words []cobra.Completion, more bool) {
	key, _, valued := strings.Cut(typed, "=")
	for _, p := range properties {
		switch {
		case !valued && (strings.HasSuffix(p.Type, "[]") || !given(before, p.Name)):
			words = invocation.Offer(words, p.Name+"=", p.Description)
		case valued && strings.TrimSuffix(key, ":") == p.Name:
			for _, v := range values(p, strings.HasSuffix(key, ":")) {
				words = invocation.Offer(words, key+"="+v, "")
			}
		}
	}
	return words, !valued
}

// given reports whether the words contain key=value or key:=JSON.
func given(words []string, key string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		k, _, _ := strings.Cut(w, "=")
		return strings.TrimSuffix(k, ":") == key
	})
}

// values returns the possible values of an argument if there are few. For JSON it returns
// only those without a meaning to a shell.
func values(p schema.Property, json bool) []string {
	switch {
	case slices.Contains(strings.Split(p.Type, "|"), "boolean"):
		return []string{"true", "false"}
	case json:
		return nil
	}
	return p.Values
}

// CompletePrompt completes a prompt and its arguments.
func CompletePrompt(app *host.App, before []string, typed string) (words []cobra.Completion, _ bool) {
	if len(before) > 0 {
		server, name, named := split(app, before[0])
		p, ok := app.Catalog.Snapshot().Prompt(name)
		if named {
			p, ok = app.Catalog.Snapshot().OwnPrompt(server, name)
		}
		if !ok {
			return nil, false
		}
		return completeArguments(promptProperties(p), before[1:], typed)
	}
	for _, p := range app.Catalog.Snapshot().Prompts {
		if app.Gateway.Visible(authn.Local(), policy.Prompt, p.Server, p.Name) {
			words = invocation.Offer(words, typedName(&p.Item, typed), Described(&p.Item))
		}
	}
	return words, false
}

func promptProperties(p *catalog.Prompt) (properties []schema.Property) {
	for _, a := range p.Arguments {
		properties = append(properties, schema.Property{Name: a.Name, Description: a.Description})
	}
	return properties
}

// CompleteResource completes the URI of a resource, with its server if that is typed.
func CompleteResource(app *host.App, before []string, typed string) (words []cobra.Completion, _ bool) {
	if len(before) > 0 {
		return nil, false
	}
	for _, r := range app.Catalog.Snapshot().Resources {
		if app.Gateway.Visible(authn.Local(), policy.Resource, r.Server, r.Name) {
			word := r.Exposed
			if strings.HasPrefix(typed, "@") {
				word = "@" + r.Server + ":" + r.Name
			}
			words = invocation.Offer(words, word, Described(r))
		}
	}
	return words, false
}

// CompleteServers completes servers that are not named yet.
func CompleteServers(app *host.App, before []string, _ string) (words []cobra.Completion, _ bool) {
	for _, s := range app.Config().Servers {
		if !slices.Contains(before, s.Name) {
			words = invocation.Offer(words, s.Name, "")
		}
	}
	return words, false
}

// CompleteServer completes the name of one server.
func CompleteServer(app *host.App, before []string, typed string) ([]cobra.Completion, bool) {
	if len(before) > 0 {
		return nil, false
	}
	return CompleteServers(app, before, typed)
}

// CompletePlugin completes the name of a plugin.
func CompletePlugin(app *host.App, before []string, _ string) (words []cobra.Completion, _ bool) {
	if len(before) > 0 {
		return nil, false
	}
	for _, p := range app.Config().Plugins {
		words = invocation.Offer(words, p.Name, p.Source)
	}
	return words, false
}
