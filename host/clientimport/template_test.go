package clientimport

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// named returns a function whose result is its name and its first argument.
func named(name string) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "x", Type: cty.String},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal("«" + name + " " + args[0].AsString() + "»"), nil
		},
	})
}

// evaluated returns the value of a text of HCL. Only the functions that imports write exist.
func evaluated(t interface{ Fatalf(string, ...any) }, text string) string {
	e, diags := hclsyntax.ParseExpression([]byte(text), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %s", text, diags)
	}
	trim := function.New(&function.Spec{
		Params: []function.Parameter{{Name: "x", Type: cty.String}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil },
	})
	v, diags := e.Value(&hcl.EvalContext{Functions: map[string]function.Function{"env": named("env"),
		"file": named("file"), "keyring": named("keyring"), "trimspace": trim}})
	if diags.HasErrors() {
		t.Fatalf("%s: %s", text, diags)
	}
	return v.AsString()
}

var templateText = rapid.StringMatching(
	"([$%]{0,3}\\{?(A|env:B|file:c|input:d|A:-e|file:, X = env[(]0[)])?\\}?[a\"\\\\ ,=()\n]{0,2}){0,5}",
)

// TestTextsStayTexts: whatever stands around references, a text of a file is the same text in
// HCL, with the values of the references in their places. No part of it becomes code.
func TestTextsStayTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := templateText.Draw(t, "text")
		if got := evaluated(t, quote(text)); got != text {
			t.Fatalf("%q is quoted as %s, which is %q", text, quote(text), got)
		}
		entry := converter{origin: "registry"}
		if got := evaluated(t, entry.expression(text)); !strings.Contains(text, "input:") && got != text {
			t.Fatalf("%q of a registry is %q", text, got)
		}
		c := converter{}
		want := ""
		for _, p := range (&converter{}).parts(text) {
			if p.expression {
				want += evaluated(t, p.text)
			} else {
				want += p.text
			}
		}
		if got := evaluated(t, c.expression(text)); got != want {
			t.Fatalf("%q is written as %s, which is %q and not %q", text, (&converter{}).expression(text), got, want)
		}
	})
}

// TestInjection: texts that once left their quotes.
func TestInjection(t *testing.T) {
	for _, text := range []string{
		"${file:, X-B = env(split(tostring(0), }0LEAKENV0${file:)[1]), X-C = }",
		"${file:, X-B = local.token, X-C = }", "$${X}", "$${X:-a}", "Bearer $${X}", "$$${X}", "%${X}", "%%{file:x}",
		"${file:x}", "%{file:x}", "$${env(\"X\")}", "$$${env(\"X\")}",
	} {
		got := Convert(clientconfig.Content{Servers: []clientconfig.Server{{Name: "a", URL: "https://h.example/mcp",
			Headers: map[string]string{"X-A": text}, Command: nil}}}, Environment{})
		file, diags := hclsyntax.ParseConfig(got.HCL, "x", hcl.InitialPos)
		if diags.HasErrors() {
			t.Errorf("%q: %s\n%s", text, diags, got.HCL)
			continue
		}
		transport := file.Body.(*hclsyntax.Body).Blocks[0].Body.Blocks[0]
		headers := transport.Body.Attributes["headers"].Expr.(*hclsyntax.ObjectConsExpr)
		if len(headers.Items) != 1 || len(transport.Body.Attributes) != 2 {
			t.Errorf("%q: %d headers\n%s", text, len(headers.Items), got.HCL)
		}
	}
}
