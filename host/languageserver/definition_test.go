package languageserver

import (
	"strings"
	"testing"
)

// TestDefinitions jumps to definitions. The wanted text follows the definition's place.
func TestDefinitions(t *testing.T) {
	for text, want := range map[string][]string{
		"server \"a\" {\n  prefix = local.or¦g\n}":                       {`org   =`},
		"server \"a\" {\n  prefix = \"${var.reg¦ion}\"\n}":               {`region" {`},
		"server \"a\" {\n  prefix = local.missi¦ng\n}":                   nil,
		"server \"a\" {\n  for_each = [\"x\"]\n  prefix = each.k¦ey\n}":  {`for_each = ["x"]`},
		"policy {\n  allow {\n    servers = [\"git¦hub\"]\n  }\n}":       {`github" {`},
		"policy {\n  allow {\n    servers = [\"*¦\"]\n  }\n}":            {`github" {`, `orders" {`},
		"policy {\n  allow {\n    servers = [\"orders_e¦u\"]\n  }\n}":    {`orders" {`},
		"policy {\n  allow {\n    tools = [\"git¦hub\"]\n  }\n}":         nil,
		"policy {\n  group \"g\" {\n    roles = [\"de¦v\"]\n  }\n}":      {`dev" {`},
		"server \"a\" {\n  transport \"kitc¦hen\" {\n  }\n}":             {`kitchen = {`},
		"server \"a\" {\n  auth \"vault/tick¦et\" {\n  }\n}":             {`vault" = {`},
		"server \"a\" {\n  transport \"apa¦rt\" {\n  }\n}":               {`apart" {`},
		"server \"a\" {\n  transport \"std¦io\" {\n  }\n}":               nil,
		"plugin \"y\" {\n  use = \"kitc¦hen\"\n}":                        {`kitchen = {`},
		"plugin \"kit¦chen\" {\n}":                                       {`kitchen = {`},
		"test \"x\" {\n  call \"gith¦ub\" \"y\" {\n  }\n}":               {`github" {`},
		"gateway {\n  limits {\n    tool \"github/¦x\" {\n    }\n  }\n}": {`github" {`},
		"ser¦ver \"a\" {\n}":                                             nil,
	} {
		v, offset := edited(t, text+servers)
		all := strings.Replace(text+servers, cursor, "", 1)
		places := v.definition(t.Context(), "/x/a.hcl", offset)
		if len(places) != len(want) {
			t.Errorf("%s: %v, want %q", text, places, want)
			continue
		}
		for i, p := range places {
			if p.path != "/x/a.hcl" || !strings.HasPrefix(all[p.from:], want[i]) {
				t.Errorf("%s: jumps to %q, want %q", text, all[p.from:min(len(all), p.from+20)], want[i])
			}
		}
	}
}
