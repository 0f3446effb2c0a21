package pins

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config"
)

// cacheFile returns the path of the file with the kept definitions.
func cacheFile(of *config.Server) string {
	return filepath.Join(filepath.Dir(of.Lock), "..", "cache", definitionsFile(of))
}

// described returns the differences as text: the tool, ? if the accepted definition is unknown, and
// the descriptions before and now.
func described(all []Difference) (lines []string) {
	for _, d := range all {
		line := d.Tool
		if d.Unknown {
			line += "?"
		}
		for _, m := range d.Members {
			if m.Name == "description" {
				line += " " + string(m.Before) + "→" + string(m.After)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// TestDifferences shows the accepted definition beside the new one, also in another process.
func TestDifferences(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	newProcess(t, of).Of(of).Seen(tools("first", "x", "y", "z"))
	p := newProcess(t, of, func(o *Options) { o.HoldNew = true })
	now := tools("second", "x", "new")
	now["y"] = tool("y", "first")
	all := p.Differences(of, held(p, of, now), now)
	if got, want := described(all), []string{`new →"second"`, `x "first"→"second"`, "z"}; !slices.Equal(got, want) {
		t.Fatalf("%q\nwant %q", got, want)
	}
	if d := all[0]; d.Pinned != "" || d.Digest != digests(now)["new"] || len(d.Members) != 2 {
		t.Errorf("a new tool: %+v", d)
	}
	if d := all[1]; d.Pinned != digests(tools("first", "x"))["x"] || d.Digest != digests(now)["x"] ||
		len(d.Members) != 1 {
		t.Errorf("a changed tool: %+v", d)
	}
	if d := all[2]; d.Pinned == "" || d.Digest != "" || d.Unknown {
		t.Errorf("a tool that is gone: %+v", d)
	}
	if err := p.Accept(of, digests(tools("second", "x")), held(p, of, now)); err != nil {
		t.Fatal(err)
	}
	third := tools("third", "x")
	if got := described(p.Differences(of, held(p, of, third), third)); !slices.Equal(got,
		[]string{`x "second"→"third"`, "y", "z"}) {
		t.Errorf("after it was accepted: %q", got)
	}
}

// TestForgedDefinitionsAreNotShown: the cache may be changed by other programs of the user. A
// definition counts as the accepted one by its digest only.
func TestForgedDefinitionsAreNotShown(t *testing.T) {
	for name, forge := range map[string]func(text string) string{
		"another text": func(text string) string { return strings.Replace(text, "first", "forged", 1) },
		"that of y":    func(text string) string { return `{"x":` + string(tool("y", "first")) + `}` },
		"the new one":  func(string) string { return `{"x":` + string(tool("x", "second")) + `}` },
		"twice":        func(text string) string { return strings.Replace(text, `{"x"`, `{"x":{},"x"`, 1) },
		"no object":    func(string) string { return `{"x":"first"}` },
		"an array":     func(string) string { return `[1]` },
		"no JSON":      func(text string) string { return text[:len(text)-1] },
		"more text":    func(text string) string { return text + "{}" },
		"nothing":      func(string) string { return "" },
		"not UTF-8":    func(text string) string { return strings.Replace(text, "first", "\xff", 1) },
		"nested deep": func(string) string {
			return `{"x":` + strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5) + `}`
		},
		"null":               func(string) string { return `{"x":null}` },
		"without the tool":   func(string) string { return `{"y":{}}` },
		"a digest of itself": func(string) string { return `{"x":` + string(tool("x", "first ")) + `}` },
	} {
		t.Run(name, func(t *testing.T) {
			of := newServer(t, config.DefinitionsFirstUse)
			p := newProcess(t, of)
			p.Of(of).Seen(tools("first", "x"))
			text, err := os.ReadFile(cacheFile(of))
			if err != nil {
				t.Fatal(err)
			}
			forged := forge(string(text))
			if forged == string(text) {
				t.Fatal("nothing was forged")
			}
			if err := os.WriteFile(cacheFile(of), []byte(forged), 0o600); err != nil {
				t.Fatal(err)
			}
			now := tools("second", "x")
			if got := described(p.Differences(of, held(p, of, now), now)); !slices.Equal(got,
				[]string{`x? →"second"`}) {
				t.Errorf("%q", got)
			}
			p.Of(of).Seen(tools("first", "x"))
			if again, err := os.ReadFile(cacheFile(of)); err != nil || string(again) != string(text) {
				t.Errorf("the definition was not kept again: %s, %v", again, err)
			}
		})
	}
}

// TestKeptDefinitionsHaveTheirBytes keeps white space and the order of members.
func TestKeptDefinitionsHaveTheirBytes(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of)
	definitions := map[string][]byte{
		"x":                 []byte(`{ "name" : "x", "description":"\u003ca>", "_meta": {"n": 1.0e2}}`),
		`"${y}\` + "\u2028": []byte(`{}`), "": []byte(`{"name":""}`),
	}
	p.Of(of).Seen(definitions)
	kept := p.keptDefinitions(of)
	if !maps.EqualFunc(kept, definitions, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Errorf("%q", kept)
	}
	if info, err := os.Stat(cacheFile(of)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestDefinitionsWithASecretAreNotKept keeps those of other tools.
func TestDefinitionsWithASecretAreNotKept(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of,
		func(o *Options) { o.Secret = func(text string) bool { return strings.Contains(text, "hunter2") } })
	p.Of(of).Seen(tools("first", "x"))
	if _, err := os.Stat(cacheFile(of)); err != nil {
		t.Fatal(err)
	}
	p.Of(of).Seen(map[string][]byte{"x": tool("x", "first"), "y": tool("y", "the password is hunter2")})
	if text, err := os.ReadFile(cacheFile(of)); err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%s, %v", text, err)
	}
	if len(inFile(t, of)) != 2 {
		t.Errorf("pinned: %v", inFile(t, of))
	}
	now := tools("second", "x", "y")
	if got := described(p.Differences(of, held(p, of, now), now)); !slices.Equal(got,
		[]string{`x "first"→"second"`, `y? →"second"`}) {
		t.Errorf("%q", got)
	}
}

// TestSecretIsRemovedFromKeptDefinitions: a text may become a known secret after it was kept.
func TestSecretIsRemovedFromKeptDefinitions(t *testing.T) {
	of, secret := newServer(t, config.DefinitionsFirstUse), "none"
	p := newProcess(t, of,
		func(o *Options) { o.Secret = func(text string) bool { return strings.Contains(text, secret) } })
	p.Of(of).Seen(tools("hunter2", "x"))
	secret = "hunter2"
	p.Of(of).Seen(tools("hunter2", "x"))
	if kept := p.keptDefinitions(of); len(kept) > 0 {
		t.Errorf("%q", kept)
	}
}

// TestSpellingOfADefinitionIsNoChange: a server that changes white space makes Junctor write nothing.
func TestSpellingOfADefinitionIsNoChange(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of)
	p.Of(of).Seen(map[string][]byte{"x": []byte(`{"name":"x","description":"d"}`)})
	p.Of(of).Seen(map[string][]byte{"x": []byte(`{"description":"d", "name":"x"}`)})
	if kept := p.keptDefinitions(of); string(kept["x"]) != `{"name":"x","description":"d"}` {
		t.Errorf("%q", kept)
	}
}

// TestChangedDefinitionIsNotKept keeps the accepted definition while another one is held back.
func TestChangedDefinitionIsNotKept(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of)
	p.Of(of).Seen(tools("first", "x"))
	for range 2 {
		p.Of(of).Seen(tools("second", "x"))
	}
	p.Of(of).Seen(nil) // the server has no tools any more
	if kept := p.keptDefinitions(of); string(kept["x"]) != string(tool("x", "first")) || len(kept) != 1 {
		t.Errorf("%q", kept)
	}
	other := *of
	other.Name = "b"
	if kept := p.keptDefinitions(&other); len(kept) > 0 {
		t.Errorf("another server: %q", kept)
	}
}
