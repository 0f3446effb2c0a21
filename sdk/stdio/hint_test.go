package stdio

import (
	"strings"
	"testing"
)

func TestRegistryHint(t *testing.T) {
	for line, want := range map[string]string{
		"npm error code ENOTFOUND": "could not be downloaded",
		"npm ERR! code EAI_AGAIN":  "could not be downloaded", "npm error code ECONNREFUSED": "could not be downloaded",
		"error: Failed to fetch: `https://registry.example/simple/x/`": "could not be downloaded",
		"  Caused by: dns error: Temporary failure in name resolution": "could not be downloaded",
		"(urllib3) NewConnectionError: failed":                         "could not be downloaded",
		"npm error code E404":                                          "no package of this name",
		"npm error code ETARGET":                                       "but not this version",
		"npm ERR! code ETARGET":                                        "but not this version",
		"npm error code SELF_SIGNED_CERT_IN_CHAIN":                     "certificate is not trusted",
		"npm ERR! code UNABLE_TO_GET_ISSUER_CERT_LOCALLY":              "NODE_EXTRA_CA_CERTS",
		"  Caused by: invalid peer certificate: UnknownIssuer":         "SSL_CERT_FILE",
		"SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed": "certificate is not trusted",
		"npm error code EACCES": "", "Error: connect ECONNREFUSED 127.0.0.1:5432": "", "": "", "all is well": "",
	} {
		got := registryHint([]string{"before", line, "after"})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// TestCertificateComesFirst checks that the cause counts, and not that the fetch failed.
func TestCertificateComesFirst(t *testing.T) {
	got := registryHint([]string{"error: Failed to fetch: `https://registry.example/simple/x/`",
		"  Caused by: invalid peer certificate: UnknownIssuer"})
	if !strings.Contains(got, "certificate is not trusted") {
		t.Error(got)
	}
}

func TestHomeHint(t *testing.T) {
	for dir, want := range map[string]string{
		"~/x": `"${env("HOME")}/x"`, "/srv/~/x/y": `"${env("HOME")}/x/y"`,
		`C:\cfg\~\x`: `"${env("HOME")}/x"`, "/srv/x": "", "/srv/~x/y": "", "": "",
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
