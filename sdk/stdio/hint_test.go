package stdio

import (
	"strings"
	"testing"
)

func TestRegistryHint(t *testing.T) {
	for line, want := range map[string]string{
		"npm error code ENOTFOUND": "could not be downloaded", "npm ERR! code EAI_AGAIN": "could not be downloaded", "npm error code ECONNREFUSED": "could not be downloaded",
		"error: Failed to fetch: `https://registry.example/simple/x/`": "could not be downloaded",
		"  Caused by: dns error: Temporary failure in name resolution": "could not be downloaded",
		"(urllib3) NewConnectionError: failed":                         "could not be downloaded",
		"npm error code E404":                                          "no package of this name",
		"npm error code EACCES":                                        "", "Error: connect ECONNREFUSED 127.0.0.1:5432": "", "": "", "all is well": "",
	} {
		got := registryHint([]string{"before", line})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestHomeHint(t *testing.T) {
	for dir, want := range map[string]string{
		"~/x": `"${env("HOME")}/x"`, "/srv/~/x/y": `"${env("HOME")}/x/y"`, `C:\cfg\~\x`: `"${env("HOME")}/x"`, "/srv/x": "", "/srv/~x/y": "", "": "",
	} {
		if got := homeHint(dir); want == "" && got != "" || !strings.HasSuffix(got, want) {
			t.Errorf("%q: %q", dir, got)
		}
	}
}

func TestOneString(t *testing.T) {
	for name, want := range map[string]string{
		"npx -y foo": `command = ["npx", "-y", "foo"]`, "npx": "", "": "", " ": "",
	} {
		if got := oneString(name); want == "" && got != "" || !strings.HasSuffix(got, want) {
			t.Errorf("%q: %q", name, got)
		}
	}
}
