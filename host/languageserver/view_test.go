package languageserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cursor marks the place of a question in a text.
const cursor = "¦"

// edited returns a view of a text without its cursor, and the offset of the cursor.
func edited(t testing.TB, text string) (v *view, offset int) {
	t.Helper()
	offset = strings.Index(text, cursor)
	if offset < 0 {
		t.Fatalf("no cursor in %q", text)
	}
	return newView(map[string][]byte{"/x/a.hcl": []byte(strings.Replace(text, cursor, "", 1))}, describeFakes), offset
}

// servers has a few definitions that the tests refer to.
const servers = `
locals {
  org   = "acme"
  token = "s3cr3t"
}
variable "region" {
  default     = "eu"
  description = "Where it is."
}
plugins {
  required = {
    kitchen = { source = "./kitchen" }
    "vault" = { source = "./vault", version = "~> 1.0" }
    unknown = { source = "./unknown" }
  }
}
plugin "apart" {
  use = "stdio"
}
server "github" {
  transport "stdio" {
    command = ["x"]
  }
}
server "orders" {
  for_each = { eu = 1 }
}
policy {
  role "dev" {
  }
}
`

// FuzzView asks about every place of a text. Nothing panics, and answers are in the text.
func FuzzView(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "config", "*.hcl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths[:min(len(paths), 30)] {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 600)], 10)
	}
	f.Add([]byte(servers), 40)
	f.Add([]byte("a = \"${local.\nb = [\n\"x"), 9)
	f.Fuzz(func(t *testing.T, text []byte, offset int) {
		v := newView(map[string][]byte{"/x/a.hcl": text}, describeFakes)
		inside := func(from, to int) {
			if from < 0 || to < from || to > len(text) {
				t.Errorf("an answer is at %d to %d of %d bytes", from, to, len(text))
			}
		}
		for _, c := range v.complete(t.Context(), "/x/a.hcl", offset) {
			inside(c.from, c.to)
		}
		if _, at, ok := v.hover(t.Context(), "/x/a.hcl", offset); ok {
			inside(at.from, at.to)
		}
		for _, at := range v.definition(t.Context(), "/x/a.hcl", offset) {
			inside(at.from, at.to)
		}
	})
}
