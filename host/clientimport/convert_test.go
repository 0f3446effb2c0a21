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
func shown(name string, text []byte) string {
	client := clientconfig.ForPath(name)
	if client == nil { // the name begins with that of the client
		word, _, _ := strings.Cut(filepath.Base(name), "-")
		client = clientconfig.Find(word)
	}
	file, err := clientconfig.ReadContent(text, client)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	got := Convert(file, Environment{Taken: []string{"taken"}})
	var b strings.Builder
	b.Write(got.Blocks())
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
			got := shown(path, text)
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
	if count < 60 {
		t.Errorf("only %d files", count)
	}
}

// TestLargeFile: a file of the maximum size takes seconds at most.
func TestLargeFile(t *testing.T) {
	for _, name := range []string{"TOKEN", "A"} {
		var b strings.Builder
		b.WriteString(`{"mcpServers": {"a": {"command": "x", "env": {"X": ""`)
		for i := range 1 << 13 {
			fmt.Fprintf(&b, `, "%s%d": "${A}%d"`, name, i, i)
			fmt.Fprintf(&b, `, "LITERAL_%s%d": "value"`, name, i)
		}
		b.WriteString(`}}}}`)
		file, err := clientconfig.ReadContent([]byte(b.String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := Convert(file, Environment{}); len(got.Servers) != 1 {
			t.Errorf("%d servers", len(got.Servers))
		}
	}
}

// TestLargeLists: files with very many entries or rules are refused, or converted in seconds.
func TestLargeLists(t *testing.T) {
	many := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ",\n")
	}
	for name, c := range map[string]struct {
		text    string
		refused bool
	}{
		"servers":    {`{"mcpServers": {` + many(200_000, `"s%d": {"command": "x"}`) + `}}`, true},
		"a fragment": {`{` + many(200_000, `"s%d": {"command": "x"}`) + `}`, true},
		"a list":     {`{"servers": [` + many(200_000, `{"command": "x%d"}`) + `]}`, true},
		"roles":      {`{"roles": {` + many(100_000, `"r%d": []`) + `}}`, true},
		"grants":     {`{"roles": {"r": [` + many(100_000, `{"server": "s%d", "access": "*"}`) + `]}}`, true},
		"names": {`{"roles": {"r": [{"server": "s", "access": "*", "tools": [` + many(300_000, `"t%d"`) + `]}]}}`,
			true},
		"rules": {`{"default": "allow", "rules": [` + many(5000, `{"tools": ["a*b*c__%d*"], "policy": "deny"}`) + `]}`,
			false},
		"few rules": {`{"rules": [` + many(
			100, `{"tools": ["a*b*c__%d*"], "policy": "allow"}, {"tools": ["*"], "roles": ["r"], "policy": "deny"}`,
		) + `]}`, false},
		"stars": {`{"rules": [{"tools": ["` + strings.Repeat("*a", 100_000) + `"], "policy": "deny"}]}`, false},
		"permissions": {`{"permissions": {"level": "yolo", "tool_permissions": {` +
			many(100_000, `"mcp_a_b_%d": {"enabled": false}`) + `}}}`, true},
		"inputs": {`{"inputs": [` + many(100_000, `{"id": "i%d", "password": true}`) +
			`], "servers": {"a": {"command": "x", "args": [` + many(2000, `"${input:i%d}"`) + `]}}}`, false},
		"a catalog": {"registry:\n" + strings.ReplaceAll(many(100_000, "  s%d: {image: x}"), ",", ""), true},
	} {
		file, err := clientconfig.ReadContent([]byte(c.text), nil)
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			Convert(file, Environment{})
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
		var client *clientconfig.Client
		if len(text)%2 == 1 {
			client = clientconfig.Find([]string{"gemini", "mcporter"}[len(text)/2%2])
		}
		content, err := clientconfig.ReadContent(text, client)
		if err != nil {
			return
		}
		got := Convert(content, Environment{})
		if _, diags := hclsyntax.ParseConfig(got.Policy, "x", hcl.InitialPos); diags.HasErrors() {
			t.Fatalf("%s\n%s", diags, got.Policy)
		}
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
