package results

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write testdata/fields.txtar instead of comparing it")

// TestByField: formatted validation errors match testdata/fields.txtar, which -update
// rewrites.
func TestByField(t *testing.T) {
	const path = "testdata/fields.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		said, shown := archive.Files[i], &archive.Files[i+1]
		got := byField(strings.TrimSuffix(string(said.Data), "\n")) + "\n"
		if got != string(shown.Data) && !*update {
			t.Errorf("%s:\n%swant:\n%s", said.Name, got, shown.Data)
		}
		shown.Data = []byte(got)
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestErrorByField: known data of an error is printed once, and other data is kept.
func TestErrorByField(t *testing.T) {
	const list = `[{"path":["a"],"message":"Required"}]`
	for name, c := range map[string]struct{ message, data, shown, rest string }{
		"message": {"no: " + list, `{"x":1}`, "no:\n  a: Required", `{"x":1}`},
		"data":    {"no", list, "no:\n  a: Required", ""},
		"object": {"no:", `{"errors":[{"instancePath":"/a","message":"must be number"}]}`,
			"no:\n  a: must be number", ""},
		"both": {"no: " + list, `{"issues":` + list + `}`, "no:\n  a: Required", ""},
		"different": {"no: " + list, `[{"path":["b"],"message":"Required"}]`, "no:\n  a: Required",
			`[{"path":["b"],"message":"Required"}]`},
		"neither":        {"no", `{"errors":7}`, "no", `{"errors":7}`},
		"empty":          {"no", `[]`, "no", `[]`},
		"several lines":  {"no\nno", list, "no\nno", list},
		"no data at all": {"no", "", "no", ""},
	} {
		shown, rest := errorByField(c.message, []byte(c.data))
		if shown != c.shown || string(rest) != c.rest {
			t.Errorf("%s: %q and %q", name, shown, rest)
		}
	}
}

// FuzzByField: a text either stays unchanged or becomes one line followed by indented
// ones.
func FuzzByField(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/fields.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(strings.TrimSuffix(string(file.Data), "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := byField(text)
		if shown == text {
			return
		}
		lines := strings.Split(shown, "\n")
		for i, line := range lines {
			if i > 0 && !strings.HasPrefix(line, "  ") {
				t.Errorf("%q is line %d of %q", line, i, text)
			}
		}
	})
}
