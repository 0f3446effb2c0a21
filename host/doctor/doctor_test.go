package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

const allHomes = "/home" // the parent of home directories

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunBoundsChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		checks := []Check{
			{"quick", func(context.Context) []Finding {
				return []Finding{{Severity: Warning, Message: "w"}, {Severity: Error, Message: "e"}}
			}},
			{"panics", func(context.Context) []Finding { panic("no") }},
			{"polite", func(ctx context.Context) []Finding { <-ctx.Done(); return nil }},
		}
		for range 5 {
			checks = append(checks, Check{"stuck", func(context.Context) []Finding { <-release; return nil }})
		}
		begun := time.Now()
		found := Run(t.Context(), checks)
		if took := time.Since(begun); took > CheckTime+time.Second {
			t.Errorf("it took %s", took)
		}
		var texts []string
		for _, f := range found {
			texts = append(texts, fmt.Sprintf("%s %s", f.Severity, f.Check))
			if f.Remedy == "" && f.Check != "quick" {
				t.Errorf("no remedy: %+v", f)
			}
		}
		if got := strings.Join(texts,
			", "); got != "error quick, warning panics, warning quick"+strings.Repeat(", warning stuck", 5) {
			t.Error(got)
		}
		if !HasErrors(found) {
			t.Error("the error is not counted")
		}
		found[0].Mended = "done"
		if HasErrors(found) {
			t.Error("a mended error counts")
		}
		close(release)
		synctest.Wait()
	})
}

func TestSystemLimits(t *testing.T) {
	for _, c := range []struct {
		limits  Limits
		servers int
		want    string // parts of the remedies
	}{
		{Limits{}, 10, ""},
		{Limits{Files: 1024, Watches: 100_000, WatchInstances: 128}, 10, ""},
		{Limits{Files: 1000}, 10, "ulimit -n 1024"},
		{Limits{Files: 4096}, 1000, "ulimit -n 6256"},
		{Limits{Watches: 100}, 1, "fs.inotify.max_user_watches=131072"},
		{Limits{WatchInstances: 8}, 1, "fs.inotify.max_user_instances=512"},
	} {
		found := SystemLimits(func() Limits { return c.limits }, c.servers).Run(t.Context())
		if (c.want == "") != (len(found) == 0) || len(found) > 0 && !strings.Contains(found[0].Remedy, c.want) {
			t.Errorf("%+v: %+v", c.limits, found)
		}
	}
	if l := ReadLimits(); l.Files == 0 && l.HardFiles == 0 && l.Watches == 0 {
		t.Log("the limits of this system are not known")
	}
}

func TestProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "junctor.hcl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	status := func(change func(*control.Status)) *control.Status {
		s := &control.Status{PID: 7, Instance: "7", Version: "1.0.0", Directory: filepath.Dir(file),
			Generation: control.Generation{Loaded: time.Now().Add(time.Hour), Files: []string{"junctor.hcl"}}}
		change(s)
		return s
	}
	for want, s := range map[string]*control.Status{
		"":              status(func(*control.Status) {}),
		"`kill 7`":      status(func(s *control.Status) { s.Version = "0.9.0" }),
		"--instance 7`": status(func(s *control.Status) { s.Generation.Loaded = time.Now().Add(-time.Hour) }),
		"junctor valida": status(func(s *control.Status) {
			s.Generation.Failed = &control.FailedReload{Error: &fault.Document{Message: "no"}}
		}),
		"notify block": status(func(s *control.Status) { s.Notices = &control.Notices{Error: "refused"} }),
	} {
		found := Processes([]*control.Status{s}, nil, "1.0.0").Run(t.Context())
		if (want == "") != (len(found) == 0) || len(found) > 1 ||
			len(found) == 1 && !strings.Contains(found[0].Remedy, want) {
			t.Errorf("%s: %+v", want, found)
		}
	}
	gone := status(func(s *control.Status) { s.Directory, s.Generation.Loaded = "", time.Time{} })
	if found := Processes([]*control.Status{gone}, []error{fault.New(fault.ProcessUnreachable, "no answer").
		WithHint("wait")}, "1.0.0").Run(t.Context()); len(found) != 1 || found[0].Remedy != "wait" {
		t.Errorf("%+v", found)
	}
}

func TestServers(t *testing.T) {
	exited := &fault.Document{Message: "the server exited with status 3", At: "junctor.hcl:3:5"}
	own := &control.Status{PID: 7, Instance: "7-1", Servers: []*control.Server{
		{Server: "idle", State: "idle"}, {Server: "ready", State: "ready"},
		{Server: "starting", State: "starting", Error: exited}, {Server: "login", State: "needs_auth", Error: exited},
	}}
	if found := Servers([]*control.Status{own}).Run(t.Context()); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	held := &control.Status{PID: 8, Instance: "8-1",
		Servers: []*control.Server{{Server: "ready", State: "ready", HeldTools: 2}}}
	if found := Servers([]*control.Status{held}).Run(t.Context()); len(found) != 1 || found[0].Severity != Warning ||
		!strings.Contains(found[0].Remedy, "`junctor diff ready`") ||
		!strings.Contains(found[0].Remedy, "`junctor reload --instance 8-1`") {
		t.Errorf("%+v", found)
	}
	own.Servers = append(own.Servers, &control.Server{Server: "files", State: "failed", Error: exited})
	found := Servers([]*control.Status{own}).Run(t.Context())
	if len(found) != 1 || found[0].Severity != Error ||
		found[0].Message != `process 7 has no connection to server "files": the server exited with status 3` ||
		found[0].At != "junctor.hcl:3:5" ||
		!strings.Contains(found[0].Remedy, "`junctor restart files --instance 7-1`") {
		t.Errorf("%+v", found)
	}
	exited.Code = fault.PluginChecksum
	if found := Servers([]*control.Status{own}).Run(t.Context()); len(found) != 1 ||
		strings.Contains(found[0].Remedy, "junctor restart") || !strings.Contains(found[0].Remedy, "`kill 7`") {
		t.Errorf("a replaced plugin: %+v", found)
	}
}

func TestClockSkew(t *testing.T) {
	u, now := &url.URL{Scheme: "https", Host: "a.example"}, time.Now()
	for off, want := range map[time.Duration]Severity{0: "", 59 * time.Second: "", 2 * time.Minute: Warning,
		-2 * time.Minute: Warning, 10 * time.Minute: Error, -24 * time.Hour: Error} {
		found := skew(u, now.Add(-off).UTC().Format(http.TimeFormat), now.Truncate(time.Second))
		if (want == "") != (len(found) == 0) || len(found) > 0 && found[0].Severity != want {
			t.Errorf("%s: %+v", off, found)
		}
	}
	for _, date := range []string{"", "yesterday", "2026-01-01"} {
		if found := skew(u, date, now); len(found) > 0 {
			t.Errorf("%q: %+v", date, found)
		}
	}
}

func TestCertificateExpiry(t *testing.T) {
	u, now := &url.URL{Scheme: "https", Host: "a.example"}, time.Now()
	for _, c := range []struct {
		lasted, left time.Duration
		want         bool
	}{
		{90 * 24 * time.Hour, 30 * 24 * time.Hour, false},
		{90 * 24 * time.Hour, 10 * 24 * time.Hour, true},
		{3 * 24 * time.Hour, 4 * 24 * time.Hour, false}, // it is renewed each week
		{6 * 24 * time.Hour, 20 * time.Hour, true},
	} {
		found := expiry(u, &x509.Certificate{NotBefore: now.Add(-c.lasted), NotAfter: now.Add(c.left)}, now)
		if (len(found) > 0) != c.want {
			t.Errorf("%+v: %+v", c, found)
		}
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{"v20.11.1": "20 11 true", "uv 0.4.18 (x)": "0 4 true",
		"Python 3.12.1\n": "3 12 true", "": "0 0 false", "unknown": "0 0 false", "v99999.1": "0 0 false"} {
		if got := fmt.Sprintln(versionIn(text)); text != "v99999.1" && strings.TrimSpace(got) != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	for pair, want := range map[[2]string]bool{{"0.1.0", "0.3.0"}: true, {"0.3.0", "0.3.9"}: false,
		{"1.0.0", "0.9.0"}: false, {"v0.2.0", "0.10.0"}: true, {"", "0.3.0"}: false, {"dev", "0.3.0"}: false} {
		if older(pair[0], pair[1]) != want {
			t.Errorf("%v: %v", pair, !want)
		}
	}
}

func TestChmodTakesRightsOnly(t *testing.T) {
	for text, want := range map[string]string{
		"run `chmod go-w /a/b`": "go-w /a/b", "run `chmod go-rwx '/a b'`, then": "go-rwx /a b",
		"`chmod g-w x`":      "g-w x",
		"run `chmod 777 /a`": "", "run `chown 0 /a`": "",
		"chmod go-w /a": "", "`chmod +x /a`": "", "`chmod go-w": "", "": "",
	} {
		mode, path, ok := chmod(text)
		if got := mode + " " + path; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"a/b-c.d": "a/b-c.d", "": "''", "a b": "'a b'", "$(x)": "'$(x)'",
		"it's": `'it'\''s'`, "a;b": "'a;b'"} {
		if got := quote(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}

func TestMask(t *testing.T) {
	m := Mask{Home: allHomes + "/ann", Users: []string{"ann", "Ann Smith", "", "root"},
		Hosts: []string{"gw1.corp.example", "gw1", "localhost"},
		Hide:  func(s string) string { return strings.ReplaceAll(s, "t0psecret", "***") }}
	for text, want := range map[string]string{
		allHomes + "/ann/junctor.hcl":                     "~/junctor.hcl",
		allHomes + "/bob/x and /Users/eve/y":              allHomes + "/USER/x and /Users/USER/y",
		"ann and planning":                                "USER and planning",
		"at gw1 and GW1.corp.example, not gw12":           "at HOST and HOST, not gw12",
		"https://a:b@far.example:8443/p?token=1 said":     "https://HOST/… said",
		"http://127.0.0.1:7575/mcp":                       "http://HOST/…",
		"listens at 127.0.0.1:80 and 10.1.2.3:80":         "listens at 127.0.0.1:80 and ADDRESS:80",
		"fe80:0:0:0:1:2:3:4 is one":                       "ADDRESS is one",
		"mail ann.smith@corp.example":                     "mail PERSON",
		"Bearer t0psecret":                                "Bearer ***",
		"ghp_0123456789abcdefghijklmnop in it":            "*** in it",
		"a_long_name_without_any_digit stays":             "a_long_name_without_any_digit stays",
		"localhost and root stay, as do 12:30:59 and v20": "localhost and root stay, as do 12:30:59 and v20",
	} {
		if got := m.Text(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("https://ann@gw1/x", "gw1")
	f.Add("İann", "ann")
	f.Fuzz(func(t *testing.T, text, name string) {
		m := Mask{Home: allHomes + "/ann", Users: []string{name}, Hosts: []string{name}}
		once := m.Text(text)
		if len(once) > 16*len(text)+1024 {
			t.Errorf("%d bytes became %d", len(text), len(once))
		}
	})
}

func TestReport(t *testing.T) {
	var b strings.Builder
	found := []Finding{
		{Check: "x", Severity: Error, Message: "server far.example failed", At: allHomes + "/ann/deep/junctor.hcl:3:1",
			Remedy: "run `kill 1`"},
		{Check: "y", Severity: Warning, Message: "m", Remedy: "r", Mended: "removed " + allHomes + "/ann/x"},
	}
	if err := Report(&b, []Fact{{"version", "1.0"}}, found, 7,
		Mask{Home: allHomes + "/ann", Hosts: []string{"far.example"}}); err != nil {
		t.Fatal(err)
	}
	want := "junctor doctor\n\nversion: 1.0\nchecks: 7\n\nerror [x] server HOST failed\n  at junctor.hcl:3:1\n  fix: run `kill 1`\nwarning [y] m\n  fix: r\n  done: removed ~/x\n"
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}

func TestSharedDirectories(t *testing.T) {
	git := Program{Server: "git", Changeable: []string{"/srv/project", "/srv/out"}}
	for _, c := range []struct {
		of   Program
		want string
	}{
		{Program{Loader: "npm", CodeDirs: []string{"/usr/bin", "/srv/project"}},
			"npm loads code from /srv/project, and tools of the server \"git\" may change that directory: they decide what runs outside of the sandbox"},
		{Program{Loader: "node", CodeDirs: []string{"/usr/bin", "/srv/out/a"}}, "node loads code from /srv/out/a, "},
		{Program{Loader: "npm", CodeDirs: []string{"/usr/bin", "/srv/project"}, Changeable: []string{"/elsewhere"}},
			"they decide what runs with the secrets and the sandbox of \"served\""},
		{Program{Loader: "npm", CodeDirs: []string{"/usr/bin", "/srv"}}, ""},
		{Program{Loader: "npm", CodeDirs: []string{"/usr/bin", "/srv/project2"}}, ""},
		{Program{}, ""},
	} {
		c.of.Server, c.of.At = "served", "junctor.hcl:1:1"
		found := Shared([]Program{git, c.of}).Run(t.Context())
		switch {
		case c.want == "" && len(found) > 0, c.want != "" && len(found) != 1:
			t.Errorf("%v: %v", c.of, found)
		case c.want != "" && (!strings.Contains(found[0].Message, c.want) || found[0].Server != "served"):
			t.Errorf("%v: %s", c.of, found[0].Message)
		}
	}
	own := git
	own.Loader, own.CodeDirs = "npm", []string{"/srv/project"}
	if found := Shared([]Program{own}).Run(t.Context()); len(found) > 0 {
		t.Errorf("of its own tools: %v", found)
	}
}
