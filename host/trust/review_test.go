package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A site is a directory with a configuration.
type site struct {
	t   *testing.T
	dir string
}

func newSite(t *testing.T) site {
	s := site{t, t.TempDir()}
	s.write("junctor.hcl", `plugins {
  required = { acme = { source = "./plugins" } }
}
server "a" {
  transport "stdio" {
    command = ["./run.sh", "one"]
    env     = { A = file("a.txt"), B = file("../b.txt") }
  }
}
`)
	s.write("a.txt", "a")
	s.write("plugins/program", "program")
	return s
}

func (s site) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s site) review() *Review {
	s.t.Helper()
	r, diags, err := Read(config.Location{Path: filepath.Join(s.dir, "junctor.hcl"), Found: true}, nil,
		func(p config.Plugin) (string, error) { return filepath.Join(p.Source, "program"), nil })
	if err != nil || r == nil {
		s.t.Fatalf("%v, %v", diags, err)
	}
	return r
}

// TestDigestChangesWithEachPart changes one part of the configuration at a time.
func TestDigestChangesWithEachPart(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		covered    bool
	}{
		"the configuration":             {"junctor.hcl", "# other\n", true},
		"a file that file() names":      {"a.txt", "b", true},
		"a plugin's program":            {"plugins/program", "other", true},
		"a new lock file":               {"junctor.lock.hcl", "# lock\n", true},
		"the same text again":           {"a.txt", "a", false},
		"a file that nothing names":     {"c.txt", "c", false},
		"a file outside of its tree":    {"../b.txt", "b", false},
		"another configuration":         {"other.hcl", "# other\n", false},
		"a program beside the plugin's": {"plugins/other", "x", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			before := s.review()
			s.write(c.file, c.text)
			after := s.review()
			if changed := before.Digest != after.Digest; changed != c.covered {
				t.Errorf("digest changed: %v", changed)
			}
			record := before.Record(time.Now())
			if after.Trusted(&record, "") == c.covered {
				t.Error("trusted all the same, or no longer")
			}
		})
	}
}

func TestDigestDoesNotDependOnDirectory(t *testing.T) {
	if one, two := newSite(t).review(), newSite(t).review(); one.Digest != two.Digest || one.Path == two.Path {
		t.Errorf("%s at %s, %s at %s", one.Digest, one.Path, two.Digest, two.Path)
	}
}

func TestTrustedByEnvironment(t *testing.T) {
	s := newSite(t)
	r := s.review()
	link, dirLink := filepath.Join(t.TempDir(), "link.hcl"), filepath.Join(t.TempDir(), "dir")
	for at, to := range map[string]string{link: r.Path, dirLink: filepath.Dir(r.Path)} {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	for variable, want := range map[string]bool{
		r.Path + ":" + r.Digest:                     true,
		"/elsewhere:00, " + r.Path + ":" + r.Digest: true,
		dirLink + "/junctor.hcl:" + r.Digest:        true,
		link + ":" + r.Digest:                       false, // relative paths in it resolve differently
		r.Path:                                      false,
		r.Path + ":":                                false,
		r.Path + ":" + r.Digest[1:]:                 false,
		":" + r.Digest:                              false,
		r.Digest:                                    false,
		filepath.Join(s.dir, "other.hcl") + ":" + r.Digest: false,
		"": false,
		filepath.Join(s.dir, "../*/junctor.hcl:") + r.Digest: false,
	} {
		if got := r.Trusted(nil, variable); got != want {
			t.Errorf("%q: %v", variable, got)
		}
	}
}

func TestSinceShowsWhatIsNew(t *testing.T) {
	s := newSite(t)
	before := s.review().Record(time.Now())
	s.write("junctor.hcl", `server "a" {
  transport "stdio" {
    command = ["./run.sh", "two"]
    env     = { A = file("a.txt"), B = file("../b.txt") }
  }
}
`)
	s.write("a.txt", "other")
	c := s.review().Since(&before)
	root, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(s.dir, "run.sh")
	if want := []string{"runs " + run + ` two  [server "a"]`}; !slices.Equal(c.Added, want) {
		t.Errorf("added %q, want %q (in %s)", c.Added, want, root)
	}
	if !slices.Contains(c.Removed, "runs "+run+` one  [server "a"]`) || len(c.Removed) != 3 {
		t.Errorf("removed %q", c.Removed)
	}
	slices.Sort(c.Files)
	if want := []string{"a.txt", "junctor.hcl"}; !slices.Equal(c.Files, want) {
		t.Errorf("files %q, want %q", c.Files, want)
	}
}

func TestUnreadableProgramIsNotPinned(t *testing.T) {
	s := newSite(t)
	if err := os.Remove(filepath.Join(s.dir, "plugins/program")); err != nil {
		t.Fatal(err)
	}
	if r := s.review(); len(r.Programs) != 1 || r.Programs[0].Problem == "" || r.Programs[0].SHA256 != "" {
		t.Errorf("%+v", r.Programs)
	}
}

// TestReadHashesRegularFilesOnly checks that Read does not open other files, and that
// the review continues.
func TestReadHashesRegularFilesOnly(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/dev/zero", s.dir, filepath.Join(s.dir, "gone")} {
		r, diags, err := Read(config.Location{Path: filepath.Join(s.dir, "junctor.hcl"), Found: true}, nil,
			func(config.Plugin) (string, error) { return path, nil })
		if r == nil || r.Programs[0].Problem == "" || r.Programs[0].SHA256 != "" {
			t.Errorf("%s: %+v, %v, %v", path, r, diags, err)
		}
	}
}

// TestReadBoundsPrograms checks too many and too large programs.
func TestReadBoundsPrograms(t *testing.T) {
	s := newSite(t)
	if err := os.Truncate(filepath.Join(s.dir, "plugins/program"), maxHashed+1); err != nil {
		t.Skip(err)
	}
	if r := s.review(); r.Programs[0].Problem == "" {
		t.Errorf("a large program: %+v", r.Programs[0])
	}
	var all strings.Builder
	for i := range maxPrograms + 1 {
		fmt.Fprintf(&all, "    p%d = { source = \"./plugins\" }\n", i)
	}
	s.write("junctor.hcl", "plugins {\n  required = {\n"+all.String()+"  }\n}\n")
	r, _, err := Read(config.Location{Path: filepath.Join(s.dir, "junctor.hcl"), Found: true}, nil,
		func(config.Plugin) (string, error) { t.Error("a program was looked for"); return "", nil })
	if r != nil || !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("%v, %v", r, err)
	}
}
