package registry_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/registry"
	"github.com/junctor-mcp/junctor/host/registry/registrytest"
)

var update = flag.Bool("update", false, "write the golden files")

func client(t *testing.T, url string, dir cache.Dir, offline bool) *registry.Client {
	t.Helper()
	c, err := registry.NewClient(url, dir, offline)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSearch: all pages are read, the newest version counts, and the best match is first.
func TestSearch(t *testing.T) {
	r := registrytest.New(t, "testdata/*.json")
	got, err := client(t, r.URL+"/v0.1/", "", false).Search(t.Context(), "e")
	if err != nil || !got.Stored.IsZero() {
		t.Fatal(got.Stored, err)
	}
	var names []string
	for _, e := range got.Entries {
		names = append(names, e.Name+"@"+e.Version)
	}
	if !slices.Contains(names, "io.github.example/demo@1.1.0") ||
		slices.Contains(names, "io.github.example/demo@1.0.0") ||
		slices.Contains(names, "io.github.example/bad-deleted@1.0.0") {
		t.Error(names)
	}
	got, err = client(t, r.URL, "", false).Search(t.Context(), "weather")
	if err != nil || len(got.Entries) != 1 || got.Entries[0].Short() != "weather" {
		t.Error(got, err)
	}
}

// TestStored: what was read is used when the registry cannot be asked, with its time.
func TestStored(t *testing.T) {
	r, dir := registrytest.New(t, "testdata/*.json"), cache.Dir(t.TempDir())
	c := client(t, r.URL, dir, false)
	if _, stored, err := c.Version(t.Context(), "io.github.example/demo", "1.0.0"); err != nil || !stored.IsZero() {
		t.Fatal(stored, err)
	}
	before := r.Requests.Load()
	r.Down.Store(true)
	for _, offline := range []bool{false, true} {
		got, stored, err := client(t, r.URL, dir, offline).Version(t.Context(), "io.github.example/demo", "1.0.0")
		if err != nil || got.Version != "1.0.0" || time.Since(stored) > time.Minute || stored.IsZero() {
			t.Errorf("offline %v: %v %v", offline, stored, err)
		}
		if _, _, err := client(t, r.URL, dir, offline).Version(t.Context(), "io.github.example/demo",
			"latest"); !fault.Is(err, fault.RegistryUnavailable) {
			t.Errorf("offline %v: %v", offline, err)
		}
	}
	if n := r.Requests.Load() - before; n != 2 {
		t.Errorf("%d requests, want those of the client that is not offline", n)
	}
	r.Down.Store(false)
	if _, _, err := c.Version(t.Context(), "io.github.example/none", "latest"); !fault.Is(err, fault.RegistryUnknown) {
		t.Error(err)
	}
}

// TestBadAnswers: an answer that is too large, that is no JSON or about another server, and a
// redirect to another host are refused.
func TestBadAnswers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"server":{"name":"a/b","version":"1"}}`))
	}))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"a type":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"server":[]}`)) },
		"another server": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"server":{"name":"c/d","version":"1"}}`))
		},
		"no version": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"server":{"name":"a/b"}}`))
		},
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"a":"` + strings.Repeat("x", 9<<20) + `"}`))
		},
		"a status": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		},
	} {
		s := httptest.NewServer(answer)
		if got, _, err := client(t, s.URL, "", false).Version(t.Context(), "a/b", "latest"); !fault.Is(err,
			fault.RegistryUnavailable) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		s.Close()
	}
	for _, url := range []string{"http://registry.example.com", "registry.example.com", "ftp://x.example",
		"https://user:hunter2@x.example", "https://x.example/?a=b", ""} {
		if _, err := registry.NewClient(url, "", false); !fault.Is(err, fault.Usage) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestEntries: each entry in testdata comes to the block, and the notes, in its golden file.
func TestEntries(t *testing.T) {
	r := registrytest.New(t, "testdata/*.json")
	c := client(t, r.URL, "", false)
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var own struct{ Name, Version string }
			text, err := os.ReadFile(file)
			if err == nil {
				err = json.Unmarshal(text, &own)
			}
			if err != nil {
				t.Fatal(err)
			}
			e, _, err := c.Version(t.Context(), own.Name, own.Version)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, o := range e.Options() {
				b.WriteString("# " + o.Kind + "\n")
				s, err := e.Server(registry.Request{Name: clientimport.Label(e.Short()), Option: o,
					Given: map[string]string{"tenant": "acme"}})
				if err != nil {
					b.WriteString("error: " + err.Error() + "\n")
					continue
				}
				got := clientimport.ConvertEntry(s.Server, s.Inputs, e.Name+"@"+e.Version, nil)
				b.Write(got.HCL)
				for _, n := range append(got.Notes, s.Notes...) {
					b.WriteString("note: " + n + "\n")
				}
				for _, x := range got.Secrets {
					b.WriteString("secret: " + x.Name + x.Variable + " from " + x.Where + "\n")
				}
			}
			golden := strings.TrimSuffix(file, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != b.String() {
				t.Errorf("%v, got\n%s\nwant\n%s", err, &b, want)
			}
			if strings.HasPrefix(filepath.Base(file), "bad-") && strings.Contains(b.String(), "server \"") &&
				e.Status != "deleted" {
				t.Errorf("a bad entry became a block:\n%s", &b)
			}
		})
	}
}

// TestAnswers: given values and answers are used, an answer is asked for once, and a choice
// that there is not is refused.
func TestAnswers(t *testing.T) {
	r := registrytest.New(t, "testdata/*.json")
	c := client(t, r.URL, "", false)
	demo, _, err := c.Version(t.Context(), "io.github.example/demo", "latest")
	if err != nil {
		t.Fatal(err)
	}
	npm := demo.Options()[1]
	asked := []string{}
	request := registry.Request{Name: "demo", Option: npm,
		Given: map[string]string{"units": "imperial", "DEMO_CITY": "Oslo"},
		Ask: func(q registry.Question) (string, bool) {
			asked = append(asked, q.ID)
			return "answer of " + q.ID, true
		}}
	s, err := demo.Server(request)
	if err != nil || s.Env["DEMO_CITY"] != "Oslo" || s.Env["DEMO_KEY"] != "${input:DEMO_KEY}" ||
		s.Env["DEMO_TEAM"] != "answer of DEMO_TEAM" || !slices.Contains(s.Command, "imperial") {
		t.Errorf("%v %v %v", s.Command, s.Env, err)
	}
	if !slices.Equal(asked, []string{"DEMO_KEY", "DEMO_TEAM"}) {
		t.Error(asked)
	}
	request.Given["units"] = "nautical"
	if _, err := demo.Server(request); !fault.Is(err, fault.RegistryEntry) || !strings.Contains(err.Error(), "metric") {
		t.Error(err)
	}
}
