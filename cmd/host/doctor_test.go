//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/verb/operate"
	"github.com/junctor-mcp/junctor/host/doctor"
)

// A sickbed is a directory with a configuration in which faults are planted.
type sickbed struct {
	*reloadDir
	*testing.T
	pid int // of the process that the test has started; 0: none
}

// healthy is a configuration without a fault.
const healthy = "server \"demo\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"

func newSickbed(t *testing.T) *sickbed {
	t.Helper()
	s := &sickbed{reloadDir: newReloadDir(t), T: t}
	for _, name := range []string{"http", "bearer", "cli"} {
		build(t, filepath.Join(s.site.dir, "plugins", "junctor-plugin-"+name), "./plugins/"+name)
	}
	temp := filepath.Join(s.site.dir, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	s.setenv("TMPDIR="+temp, "HTTP_PROXY=", "HTTPS_PROXY=", "http_proxy=", "https_proxy=", "NO_PROXY=", "no_proxy=")
	s.configure(healthy)
	return s
}

// setenv adds variables to the environment of junctor. The last one of a name counts.
func (s *sickbed) setenv(variables ...string) { s.site.env = append(s.site.env, variables...) }

func (s *sickbed) configure(text string) {
	s.Helper()
	rewriteConfig(s.T, s.reloadDir.path, text)
}

// in returns a path in the directory.
func (s *sickbed) in(path string) string { return filepath.Join(s.site.dir, path) }

// write writes a file, and its directory.
func (s *sickbed) write(path, text string, mode os.FileMode) string {
	s.Helper()
	path = s.in(path)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		s.Fatal(err)
	}
	return path
}

// must runs a verb that has to succeed.
func (s *sickbed) must(args ...string) string {
	s.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.Fatalf("junctor %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// doctor runs junctor doctor.
func (s *sickbed) doctor(flags ...string) (v operate.DoctorJSON, status int) {
	s.Helper()
	cmd := s.command(append([]string{"doctor", "--json"}, flags...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	begun := time.Now()
	out, _ := cmd.Output()
	if took := time.Since(begun); took > 8*time.Second { // 5 s, and a busy machine
		s.Errorf("doctor took %s", took)
	}
	if err := json.Unmarshal(out, &v); err != nil {
		s.Fatalf("%v: %s%s", err, out, &errs)
	}
	v.Findings = slices.DeleteFunc(v.Findings, func(f doctor.Finding) bool {
		// Of other tests.
		return s.pid == 0 && (f.Check == "processes" || f.Check == "leftovers" && !strings.Contains(f.At, s.site.dir))
	})
	return v, cmd.ProcessState.ExitCode()
}

// A plantedFault is a fault and the finding about it.
type plantedFault struct {
	name     string
	plant    func(s *sickbed)
	check    string
	severity doctor.Severity
	message  string // a regular expression
	remedy   string // a part
	fixes    bool   // --fix corrects it without a question
}

// TestDoctorFindsPlantedFaults plants one real fault after the other. Each is found, alone,
// with what mends it.
func TestDoctorFindsPlantedFaults(t *testing.T) {
	all := plantedFaults()
	if len(all) < 25 {
		t.Errorf("only %d faults", len(all))
	}
	for _, c := range all {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			s := newSickbed(t)
			c.plant(s)
			v, status := s.doctor()
			want := regexp.MustCompile(c.message)
			var found *doctor.Finding
			for i, f := range v.Findings {
				if f.Check == c.check && f.Severity == c.severity && want.MatchString(f.Message) {
					found = &v.Findings[i]
				} else if f.Severity == doctor.Error {
					t.Errorf("another error: [%s] %s (fix: %s)", f.Check, f.Message, f.Remedy)
				}
			}
			if found == nil {
				t.Fatalf("no %s of %s matches %q: %+v", c.severity, c.check, c.message, v.Findings)
			}
			if remedy := strings.ReplaceAll(c.remedy, "$DIR", s.site.dir); !strings.Contains(found.Remedy, remedy) {
				t.Errorf("the remedy is %q, want %q", found.Remedy, remedy)
			}
			if want := map[doctor.Severity]int{doctor.Error: 1, doctor.Warning: 0}[c.severity]; status != want ||
				v.OK != (want == 0) {
				t.Errorf("exit status %d, ok %v", status, v.OK)
			}
			if c.fixes {
				s.fixed(c.check)
			}
		})
	}
}

// fixed checks that --fix corrects what a check found, and says so.
func (s *sickbed) fixed(check string) {
	s.Helper()
	v, status := s.doctor("--fix")
	done := false
	for _, f := range v.Findings {
		done = done || f.Check == check && f.Mended != ""
	}
	if !done || status != 0 {
		s.Errorf("--fix did not correct it (%d): %+v", status, v.Findings)
	}
	if v, _ = s.doctor(); len(v.Findings) > 0 {
		s.Errorf("after --fix: %+v", v.Findings)
	}
}

func TestDoctorFindsNothingInHealth(t *testing.T) {
	s := newSickbed(t)
	before := fmt.Sprint(tree(t, s.site.dir))
	v, status := s.doctor()
	if status != 0 || !v.OK || len(v.Findings) > 0 || v.Checks < 10 {
		t.Errorf("%d, %+v", status, v)
	}
	if v, _ = s.doctor("--fix"); len(v.Findings) > 0 {
		t.Errorf("%+v", v)
	}
	if after := fmt.Sprint(tree(t, s.site.dir)); after != before {
		t.Errorf("doctor changed files:\n%s\n%s", before, after)
	}
	out, err := s.command("doctor", "--text").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "nothing is wrong") {
		t.Errorf("%v: %s", err, out)
	}
}

// tree lists files with their modes.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !strings.Contains(path, "home/run") && !strings.Contains(path, "home/cache") {
			var info os.FileInfo
			if info, err = e.Info(); err == nil {
				all = append(all, path+" "+info.Mode().String())
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDoctorEvaluatesNothingUntrusted checks that a configuration of another person is not
// evaluated: its plugin would write a file.
func TestDoctorEvaluatesNothingUntrusted(t *testing.T) {
	s := newSickbed(t)
	s.setenv("JUNCTOR_CONFIG=")
	s.write("evil", "#!/bin/sh\ntouch "+s.in("ran")+"\n", 0o755)
	s.configure("plugins {\n  evil = { source = \"./evil\" }\n}\nserver \"a\" {\n  transport \"evil\" {\n  }\n}\nserver \"b\" {\n  transport \"stdio\" {\n    command = [\"./evil\"]\n  }\n}\n")
	if v, status := s.doctor("--fix"); status != 1 || len(v.Findings) != 1 || v.Findings[0].Check != "trust" {
		t.Errorf("%d, %+v", status, v)
	}
	if clientfiles.FileExists(s.in("ran")) {
		t.Error("a program of an untrusted configuration ran")
	}
}

// TestDoctorReportTellsNoSecret puts a canary, the name of a person and that of a host into
// every place of a finding.
func TestDoctorReportTellsNoSecret(t *testing.T) {
	s := newSickbed(t)
	const canary = "canary-7f3a9c2e5b8d1046"
	s.setenv("CANARY="+canary, "USER=zaphod", "HTTPS_PROXY=http://zaphod:"+canary+"@127.0.0.1:1")
	s.write("canary", canary, 0o600)
	s.configure(fmt.Sprintf(`
server "a" {
  transport "stdio" {
    command = ["no-such-program", env("CANARY")]
    env     = { TOKEN = file("canary") }
  }
}
server "b" {
  transport "http" {
    url     = "https://secret-host.invalid/%s?token=%s"
    headers = { Authorization = "Bearer ${env("CANARY")}" }
  }
}
server "c" {
  transport "stdio" {
    command = ["%s/zaphod/%s/program"]
  }
}
`, canary, canary, "/home", canary))
	report := s.in("report.txt")
	out, err := s.command("doctor", "--json", "--report", report).CombinedOutput()
	text, readErr := os.ReadFile(report)
	if err == nil || readErr != nil {
		t.Fatalf("%v, %v: %s", err, readErr, out)
	}
	for _, secret := range []string{canary, "zaphod", "secret-host", s.site.dir} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the report has %q:\n%s", secret, text)
		}
	}
	for _, said := range []string{"no-such-program", "error [programs]", "fix: ", "version: ", "servers: "} {
		if !strings.Contains(string(text), said) {
			t.Errorf("the report lacks %q:\n%s", said, text)
		}
	}
	checkBundle(t, s, []string{canary, "zaphod", "secret-host", s.site.dir})
	if info, err := os.Stat(report); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if out, err := s.command("doctor", "--report", report).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "cannot be written") {
		t.Errorf("an existing file was replaced: %s", out)
	}
}
