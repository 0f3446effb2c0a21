//go:build unix

package main

import (
	"archive/zip"
	"io"
	"strings"
	"testing"
)

// checkBundle writes a support bundle, which holds each part and none of the secrets.
func checkBundle(t *testing.T, s *sickbed, secrets []string) {
	t.Helper()
	s.serveHTTP()
	path := s.in("report.zip")
	out, _ := s.command("doctor", "--text", "--report", path).CombinedOutput()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer r.Close()
	parts := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(in)
		kind, _, _ := strings.Cut(f.Name, ".")
		kind, _, _ = strings.Cut(kind, "-")
		parts[kind] += string(text)
		if !strings.Contains(string(out), f.Name) {
			t.Errorf("%s is not named: %s", f.Name, out)
		}
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has %q:\n%s", f.Name, secret, text)
			}
		}
	}
	for kind, part := range map[string]string{"report": "version: ", "findings": "remedy",
		"configuration": "server \"b\"", "status": "\"pid\"", "log": "serving over HTTP", "events": "process"} {
		if !strings.Contains(parts[kind], part) {
			t.Errorf("%s lacks %q: %.500s", kind, part, parts[kind])
		}
	}
}
