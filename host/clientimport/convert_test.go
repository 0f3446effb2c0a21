package clientimport

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// shown returns everything that a person sees of an import.
func shown(text []byte) string {
	servers, inputs, err := clientconfig.Servers(text)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	got := Convert(servers, inputs, []string{"taken"})
	var b strings.Builder
	b.Write(got.HCL)
	for _, n := range got.Notes {
		fmt.Fprintf(&b, "# note: %s\n", n)
	}
	for _, s := range got.Secrets {
		fmt.Fprintf(&b, "# secret: %s%s of %s: %s, asked %t\n", s.Name, s.Variable, s.Server, s.Where, s.Asked)
	}
	return b.String()
}

// TestFiles converts the files of clients. Each secret in them contains "hunter".
func TestFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, path := range files {
		if filepath.Ext(path) == ".golden" {
			continue
		}
		count++
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := shown(text)
			if strings.Contains(got, "hunter") {
				t.Errorf("a secret is shown:\n%s", got)
			}
			if !strings.HasPrefix(got, "error: ") {
				if _, diags := hclsyntax.ParseConfig([]byte(got), path, hcl.InitialPos); diags.HasErrors() {
					t.Errorf("this is not HCL: %s\n%s", diags, got)
				}
			}
			golden := path + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want, err := os.ReadFile(golden); err != nil || string(want) != got {
				t.Errorf("%v; got:\n%s\nwant:\n%s", err, got, want)
			}
		})
	}
	if count < 15 {
		t.Errorf("only %d files", count)
	}
}

// TestLargeFile: a file of the maximum size takes seconds at most.
func TestLargeFile(t *testing.T) {
	for _, name := range []string{"TOKEN", "A"} {
		var b strings.Builder
		b.WriteString(`{"mcpServers": {"a": {"command": "x", "env": {"X": ""`)
		for i := range 1 << 14 {
			fmt.Fprintf(&b, `, "%s%d": "${A}%d"`, name, i, i)
			fmt.Fprintf(&b, `, "LITERAL_%s%d": "value"`, name, i)
		}
		b.WriteString(`}}}}`)
		servers, inputs, err := clientconfig.Servers([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got := Convert(servers, inputs, nil); len(got.Servers) != 1 {
			t.Errorf("%d servers", len(got.Servers))
		}
	}
}

// FuzzConvert: any file is refused, or becomes HCL.
func FuzzConvert(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		servers, inputs, err := clientconfig.Servers(text)
		if err != nil {
			return
		}
		got := Convert(servers, inputs, nil)
		file, diags := hclsyntax.ParseConfig(got.HCL, "x", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%s\n%s", diags, got.HCL)
		}
		if n := len(file.Body.(*hclsyntax.Body).Blocks); n != len(got.Servers) {
			t.Fatalf("%d blocks of %d servers\n%s", n, len(got.Servers), got.HCL)
		}
		if bytes.Contains(got.HCL, []byte{0}) {
			t.Fatalf("a control character in %q", got.HCL)
		}
	})
}
