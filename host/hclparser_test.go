package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const hclModule = "github.com/hashicorp/hcl/v2"

// parsesHCL lists the uses of HCL's parser, scanner and formatter, with the reason why each
// is safe. The parser recurses without a limit, so that any other use can end the process.
var parsesHCL = map[string]string{
	"host/hcltext hclsyntax.ParseConfig":      "Scan has bounded the text",
	"host/hcltext hclsyntax.LexConfig":        "the scanner does not recurse, and Scan bounds the size",
	"host/languageserver hclsyntax.LexConfig": "the scanner does not recurse; sketchOf bounds the size, and nothing is parsed",
	"host/configedit hclsyntax.LexConfig":     "the scanner does not recurse, and hcltext.Parse has accepted the text",
	"host/configedit hclwrite.Format":         "it does not parse, and hcltext.Parse has accepted the text",
	"host/clientimport hclwrite.Format":       "it does not parse; the text is made of bounded values",
	"host/cliconfig hclwrite.Format":          "it does not parse; the text is made of bounded values",
}

// TestOnlyOnePackageParsesHCL refuses every other use of the parser of HCL.
func TestOnlyOnePackageParsesHCL(t *testing.T) {
	used := map[string]bool{}
	walkSources(t, func(rel, _ string, imports []string) {
		for _, imp := range imports {
			switch imp {
			case hclModule + "/hclparse", hclModule + "/hclsimple", hclModule + "/json", "github.com/hashicorp/hcl",
				"github.com/hashicorp/hcl/hcl/parser":
				t.Errorf("%s imports %s, which parses without bounds: use host/hcltext", rel, imp)
			}
		}
		for _, use := range parserUses(t, rel) {
			key := path.Dir(filepath.ToSlash(rel)) + " " + use
			if used[key] = true; parsesHCL[key] == "" {
				t.Errorf("%s calls %s: use host/hcltext, which bounds the text first", rel, use)
			}
		}
	})
	for key := range parsesHCL {
		if !used[key] {
			t.Errorf("parsesHCL has %q, which is not used", key)
		}
	}
}

// parserUses returns the functions of HCL that read text and that a file names.
func parserUses(t *testing.T, rel string) (uses []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", rel), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // the HCL packages by the name that the file gives them
	for _, imp := range file.Imports {
		from := strings.Trim(imp.Path.Value, `"`)
		if !strings.HasPrefix(from, hclModule) {
			continue
		}
		name := path.Base(from)
		if imp.Name != nil {
			names[imp.Name.Name] = name
		} else if name != "v2" {
			names[name] = name
		}
		if imp.Name != nil && imp.Name.Name == "." {
			t.Errorf("%s imports %s into its own names", rel, from)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok || names[x.Name] == "" || x.Obj != nil {
			return true
		}
		if strings.HasPrefix(s.Sel.Name, "Parse") || strings.HasPrefix(s.Sel.Name, "Lex") || s.Sel.Name == "Format" {
			uses = append(uses, names[x.Name]+"."+s.Sel.Name)
		}
		return true
	})
	return uses
}
