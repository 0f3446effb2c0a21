package expression

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// evaluate returns the value of an expression, the evaluator and its files.
func evaluate(t *testing.T, text string) (cty.Value, *Evaluator, *source.Set) {
	t.Helper()
	files := source.NewSet(source.Words{
		Blocks:     func() map[string]bool { return nil },
		Messages:   MessageWords,
		IsFunction: LooksLikeFunction,
	})
	ev := New(files, Inputs{
		Lookup: func(name string) (string, bool) { return "s3cr3t-from-env", name == "API_TOKEN" },
		Read:   func(path string) ([]byte, error) { return source.ReadFile(path, MaxIncluded) },
	})
	if !files.Parse([]*source.File{files.Add("junctor.hcl", []byte("x = "+text+"\n"))}) {
		t.Fatalf("%s: %v", text, files.Since(0))
	}
	v, _ := Host{ev, NewNames(), cty.NilVal}.Eval("", files.All[0].Body.Attributes["x"].Expr)
	return v, ev, files
}

var secretName = regexp.MustCompile(`\bS\b`)

// TestMarksSurviveEveryExpression checks that values computed from the environment stay
// marked, through every function and every kind of expression.
func TestMarksSurviveEveryExpression(t *testing.T) {
	expressions := []string{
		`"${S}"`, `"a${S}b"`, `<<EOT
${S}
EOT`, `[S]`, `{ a = S }`, `{ (S) = 1 }`, `[S][0]`, `{ a = S }.a`, `{ s3cr3t-from-env = 1 }[S]`,
		`S == "x"`, `S != "x"`, `true ? S : "x"`, `false ? S : "x"`,
		`S == "x" ? 1 : 2`, `[for c in ["a"] : "${c}${S}"]`,
		`[for c in ["a"] : c if S != ""]`, `{ for c in ["a"] : S => c }`,
		`{ for c in ["a", "b"] : S => c... }`, `[for c in split("-", S) : 1]`,
		`[S][*]`, `[{ a = S }][*].a`, `(S)`, `!(S == "x")`, `length(S) + 1`, `-length(S)`,
		`"%{ if S == "x" }a%{ else }b%{ endif }"`, `"%{ for c in split("-", S) }x%{ endfor }"`,
		`startswith(S, "a")`, `startswith("a", S)`, `endswith(S, "a")`, `join(S, ["a", "b"])`, `join(",", [S])`,
		`split("-", S)`, `split(S, "a")`, `upper(S)`, `lower(S)`, `trim(S, "x")`, `trim("x", S)`, `trimspace(S)`,
		`trimprefix(S, "x")`, `trimprefix("x", S)`, `trimsuffix(S, "x")`, `trimsuffix("x", S)`, `replace(S, "x", "y")`,
		`replace("x", S, "y")`, `replace("x", "x", S)`, `format(S)`, `format("%s", S)`, `format("%d", length(S))`,
		`concat([S], ["a"])`, `concat(split("-", S))`, `contains([S], "a")`, `contains(["a"], S)`,
		`merge({ a = S }, {})`, `merge({ (S) = 1 }, {})`, `keys({ (S) = 1 })`, `keys({ a = S })[0] == S`,
		`values({ a = S })`, `values({ (S) = 1 })`, `length(S)`, `length(split("-", S))`, `lookup({ a = S }, "a", "b")`,
		`lookup({ a = "x" }, S, "b")`, `lookup({}, "a", S)`, `flatten([[S]])`, `flatten([split("-", S)])`,
		`distinct([S])`, `sort([S])`, `coalesce(null, S)`, `compact([S])`, `range(length(S))`, `min(1, length(S))`,
		`max(1, length(S))`, `jsonencode(S)`, `jsonencode({ a = [S] })`, `jsondecode(jsonencode(S))`,
		`jsondecode(jsonencode({ a = S })).a`, `base64encode(S)`, `base64decode(base64encode(S))`, `tostring(S)`,
		`tonumber(tostring(length(S)))`, `tobool(tostring(S == "x"))`, `tolist([S])`, `tomap({ a = S })`, `try(S, "x")`,
		`try(tonumber(S), S)`, `env("NOT_SET", S)`, `tostring(jsondecode("[1]")[length(S) - length(S)])`,
		`concat([[S]]...)`,
	}
	called := map[string]bool{}
	for _, e := range expressions {
		for name := range functions {
			called[name] = called[name] || strings.Contains(e, name+"(")
		}
		v, _, files := evaluate(t, secretName.ReplaceAllString(e, `env("API_TOKEN")`))
		if v == cty.NilVal {
			t.Errorf("%s: %v", e, files.Since(0))
		} else if !v.ContainsMarked() {
			t.Errorf("%s lost the mark", e)
		}
	}
	for _, name := range functionNames {
		if !called[name] && !slices.Contains([]string{"can", "file", "keyring"}, name) {
			t.Errorf("%s is not tried", name)
		}
	}
	if v, _, _ := evaluate(t, `file("../../../testdata/config/included.txt")`); !v.ContainsMarked() {
		t.Error("file is not marked")
	}
	if v, _, _ := evaluate(t, `env("NOT_SET", "plain")`); v.ContainsMarked() {
		t.Error("a fallback is marked")
	}
}

// TestNumbersOutOfRange checks numbers that JSON or a float64 cannot represent.
func TestNumbersOutOfRange(t *testing.T) {
	for _, text := range []string{`"${1e1000000}"`, `1 / 0`, `[{ a = 1 / 0 }]`, `1e300 * 1e300`,
		`jsondecode("[1e1000000]")`} {
		v, _, files := evaluate(t, text)
		if v != cty.NilVal || len(files.Since(0)) != 1 ||
			files.Since(0)[0].Summary != "a number is too large or too small" {
			t.Errorf("%s: %#v, %v", text, v, files.Since(0))
		}
	}
}

// TestInstrumentKeepsValues checks that an instrumented expression has the same value,
// also if it is instrumented twice.
func TestInstrumentKeepsValues(t *testing.T) {
	for _, text := range []string{
		`{ a = 1, "b" = 2, (upper("c")) = 3, null = 4, true = 5 }`, `[1, 2][*]`, `[{ a = [{ b = 1 }] }][*].a[*].b`,
		`{ a = { b = 1 } }.a.b`, `"x${1}y%{ if true }z%{ endif }"`, `"${[1]}"`, `!true || -1 < 2 && 3 % 2 == 1`,
		`[for k, v in { a = 1 } : "${k}${v}" if v > 0]`, `{ for k, v in { a = 1, b = 1 } : v => k... }`,
		`concat([1], [2]...)`, `([1, 2])[1]`, `[[1, 2], [3]][0][1]`, `try(nothing, [1].x, 2)`,
		`true ? { a = 1 } : { a = 2 }`, "<<-EOT\n  a\n    ${1}\n  EOT\n",
	} {
		parse := func() hclsyntax.Expression {
			file, diags := hclsyntax.ParseConfig([]byte("x = "+text+"\n"), "x.hcl", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			return file.Body.(*hclsyntax.Body).Attributes["x"].Expr
		}
		ctx := &hcl.EvalContext{Functions: functions}
		plain, plainDiags := parse().Value(ctx)
		_, ev, _ := evaluate(t, "1")
		e := ev.instrument(parse())
		for range 2 {
			v, diags := e.Value(ctx)
			if !plain.RawEquals(v) || len(plainDiags) != len(diags) {
				t.Errorf("%s: %#v %v, instrumented %#v %v", text, plain, plainDiags, v, diags)
			}
			e = ev.instrument(e)
		}
	}
}

// panicking is an expression that panics, like a bug in HCL.
type panicking struct{ hclsyntax.Expression }

func (panicking) Value(*hcl.EvalContext) (cty.Value, hcl.Diagnostics) { panic("a value: s3cr3t") }

func TestPanicBecomesDiagnostic(t *testing.T) {
	_, diags := valueOf(panicking{&hclsyntax.LiteralValueExpr{}}, nil)
	if !diags.HasErrors() || strings.Contains(diags.Error(), "s3cr3t") {
		t.Error(diags)
	}
}

var keyringName = regexp.MustCompile(`\bK\b`)

// TestPassthroughFuncsKeepPlaceholders checks that passthrough functions keep
// placeholders whole, and that eval reports placeholders in all other functions.
func TestPassthroughFuncsKeepPlaceholders(t *testing.T) {
	for _, e := range []string{
		`K`, `"${K}"`, `"a ${K} b"`, `(K)`, `[K]`, `{ a = K }`, `[K][0]`, `{ a = K }.a`, `{ a = K }["a"]`, `[K][*]`,
		`[{ a = K }][*].a`, `true ? K : "x"`, `[for k in [K] : k]`, `{ for k in [K] : "a" => k }`,
		`{ for k in [K, K] : "a" => k... }`, `"%{ for k in [K] }${k}%{ endfor }"`, "<<EOT\n${K}\nEOT", `try(K, "x")`,
		`coalesce(null, K)`, `concat([K], ["a"])`, `merge({ a = K }, {})`, `values({ a = K })`, `flatten([[K]])`,
		`join(",", [K])`, `join(K, ["a", "b"])`, `tostring(K)`, `tolist([K])`, `tomap({ a = K })`,
		`lookup({ a = K }, "a", "x")`, `lookup({}, "a", K)`, `env("NOT_SET", K)`, `concat([[K]]...)`,
	} {
		v, ev, files := evaluate(t, keyringName.ReplaceAllString(e, `keyring("x")`))
		steps, found := ev.Keyring.Find(v)
		if len(files.Since(0)) > 0 || !found || !v.ContainsMarked() {
			t.Errorf("%s: %v, %v, %v", e, v, files.Since(0), steps)
			continue
		}
		for _, text := range textsIn(v) {
			if strings.Contains(text, "keyring") && !strings.Contains(text, ev.Keyring.Placeholder("x")) {
				t.Errorf("%s: %s", e, text)
			}
		}
	}
	for _, name := range functionNames {
		if _, handed := passthroughFuncs[name]; handed || name == "keyring" {
			continue
		}
		v, _, files := evaluate(t,
			`try(`+name+`(keyring("x")), `+name+`("a", keyring("x")), `+name+`("a", "b", keyring("x")), "x")`)
		if len(files.Since(0)) == 0 {
			t.Errorf("%s() gives %#v", name, v)
		}
	}
}

// TestNormalizeKeepsPlaces checks that two texts normalize to the same result only if
// they have the same placeholders in the same places.
func TestNormalizeKeepsPlaces(t *testing.T) {
	k := Keyring{Nonce: "N"}
	seen := map[string]string{}
	for _, text := range []string{
		"", "a", k.Placeholder("a"), k.Placeholder("b"), "x" + k.Placeholder("a"), k.Placeholder("a") + "x",
		k.Placeholder("a") + k.Placeholder("b"), k.Placeholder("b") + k.Placeholder("a"),
		k.Placeholder("a") + "x" + k.Placeholder("b"), "keyring:" + "a;", k.opening(), k.opening() + "a",
	} {
		normal, places := k.Normalize([]byte(text))
		print := fmt.Sprintf("%q %q", normal, places)
		if other, both := seen[print]; both {
			t.Errorf("%q and %q are %s", text, other, print)
		}
		seen[print] = text
	}
}
