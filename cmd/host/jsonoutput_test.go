package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// otherWriters lists the calls outside jsonoutput.go that encode JSON or write to standard
// output, by file, with the reason why the text needs no escapes. PrintJSON, PrintLine,
// PrintRawJSON and PrintStderrLine are for all other JSON, and Printf for other text.
var otherWriters = map[string]string{
	"verb/operate/bench.go json.Marshal":                   "params for a server",
	"verb/use/call.go json.Marshal":                        "params for a server",
	"verb/use/prompts.go json.Marshal":                     "params for a server",
	"verb/use/resources.go json.Marshal":                   "params for a server",
	"invocation/form.go json.Marshal":                      "the answer for a server",
	"clientfiles/exported.go json.MarshalIndent":           "a file of Junctor's own",
	"verb/operate/support.go json.MarshalIndent":           "a file in the bundle, whose texts are masked",
	"verb/serve/ownprocess.go json.Marshal":                "printed by the process that asked",
	"verb/configure/wrap.go json.Marshal":                  "printed by printJSON, or as HCL",
	"verb/configure/printdifference.go json.MarshalIndent": "passes through safe",
	"results/result.go fmt.Fprintln":                       "passes through safe",
	"verb/plugins/plugin.go fmt.Fprintln":                  "readableLog passes it through safe",
	"terminal/remarks.go json.Marshal":                     "a file that only Junctor reads",
	"terminal/table.go fmt.Fprint":                         "passes through safe",
	"terminal/table.go io.WriteString":                     "each cell passes through safe",
	"verb/configure/export.go io.WriteString":              "passes through safe",
	"verb/operate/top.go stdout.Write":                     "passes through safe",
	"terminal/colour.go stdout.Write":                      "passes through safe",
	"verb/configure/export.go stdout.Write":                "the user's own settings, in the client's format",
	"verb/configure/format.go stdout.Write":                "the user's own file",
	"verb/configure/import.go stdout.Write":                "HCL of the importer",
	"verb/configure/wrap.go stdout.Write":                  "HCL of the generator",
	"verb/credentials/secret.go stdout.Write":              "exactly the value, for a pipe",
	"begin.go io.WriteString":                              "the beginning of a file that Junctor wrote",
}

// TestAllJSONIsPrintedWithEscapes checks that no verb prints JSON past the encoder that
// escapes hidden characters.
func TestAllJSONIsPrintedWithEscapes(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			name == "terminal/jsonoutput.go" {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			key := name + " " + writerCalled(call)
			if used[key] = true; !strings.HasSuffix(key, " ") && otherWriters[key] == "" {
				t.Errorf("%s calls %s: use a function of terminal/jsonoutput.go",
					set.Position(call.Pos()), writerCalled(call))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range otherWriters {
		if !used[key] {
			t.Errorf("%s is listed and does not exist", key)
		}
	}
}

// writerCalled returns the name of a function that encodes JSON or writes to standard output, or
// "" for any other call.
func writerCalled(call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name := fmt.Sprintf("%s.%s", strings.Replace(lastName(f.X), "Stdout", "stdout", 1), f.Sel.Name)
	switch {
	case slices.Contains([]string{"json.NewEncoder", "json.Marshal", "json.MarshalIndent", "json.MarshalWrite",
		"stdout.Write", "stdout.WriteString"}, name):
		return name
	case slices.Contains([]string{"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "io.WriteString", "io.Copy"}, name) &&
		strings.EqualFold(lastName(call.Args[0]), "stdout"):
		return name
	}
	return ""
}

// lastName returns the name at the end of an expression such as t.Stdout.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}
