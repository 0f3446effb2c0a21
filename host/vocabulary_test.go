package host

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// riddles are names that only their author understood. None of them is the name of
// a package, a file, or anything that a package declares, in any case.
var riddles = map[string]string{
	"talk": "suspendedCall", "roll": "registry", "room": "quota, eviction or space", "lease": "exclusive connection",
	"park": "suspend", "parked": "suspended",
	"ticket": "id", "sealer": "codec", "visit": "URL elicitation", "greeting": "initialize result",
	"misfit": "mismatch", "quiz": "elicitation",
	"desk": "fixture", "hall": "fixture", "joint": "coalescer", "boxstream": "sseStream",
	"crowd": "limiter", "hush": "redact", "handson": "passthrough", "foresee": "collect", "veil": "redactor",
	"heed": "lower or record", "landlords": "homes", "stranger": "peer", "newcomer": "new client",
	"outbox": "queue", "papers": "documents",
	"house": "its content", "door": "its content", "witness": "diagnoser",
	"trouble": "failure", "overdue": "slow", "wenton": "its event",
}

// unclearSubject matches the beginning of a comment line whose subject is a
// relative clause or no particular person.
var unclearSubject = regexp.MustCompile(`^//\s*(What|Who|Whoever|Nobody|Somebody|None) [a-z]`)

// unclearWords are words that hide who does something.
var unclearWords = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever)\b`)

// TestVocabulary keeps names and comments in the terms of MCP, OAuth, HTTP and Go.
func TestVocabulary(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "bin" || name == "node_modules" || name == ".home" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		checkFileName(t, rel)
		checkSource(t, path, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkFileName(t *testing.T, rel string) {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(rel), ".go")
	for _, part := range append(strings.Split(name, "_"), filepath.Base(filepath.Dir(rel))) {
		if better, ok := riddles[strings.ToLower(part)]; ok {
			t.Errorf("%s: %q is no name for a file or a package; perhaps %s", rel, part, better)
		}
	}
}

func checkSource(t *testing.T, path, rel string) {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v", rel, err)
		return
	}
	at := func(p token.Pos) int { return files.Position(p).Line }
	name := func(id *ast.Ident) {
		if better, ok := riddles[strings.ToLower(id.Name)]; ok {
			t.Errorf("%s:%d: %q is a riddle; perhaps %s", rel, at(id.Pos()), id.Name, better)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name(n.Name)
		case *ast.TypeSpec:
			name(n.Name)
		case *ast.Field:
			for _, id := range n.Names {
				name(id)
			}
		case *ast.GenDecl:
			for _, s := range n.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						name(id)
					}
				}
			}
		}
		return true
	})
	for _, group := range f.Comments {
		for _, c := range group.List {
			if unclearSubject.MatchString(c.Text) || unclearWords.MatchString(c.Text) {
				t.Errorf("%s:%d: name the subject: %s", rel, at(c.Pos()), c.Text)
			}
		}
	}
}
