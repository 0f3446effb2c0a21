package tool

import "testing"

// TestEvidenceReadsAsAReason: the reason of a rejection is before its source.
func TestEvidenceReadsAsAReason(t *testing.T) {
	for evidence, want := range map[string]string{
		"git-clone(1) GIT URLS: a host that begins with a dash is an option of ssh": "a host that begins with a dash is an option of ssh; see git-clone(1) GIT URLS",
		"tar(1) OPTIONS: exec=CMD; tried":                                           "exec=CMD; see tar(1) OPTIONS",
		"gitcli(7)":                                                                 "see gitcli(7)",
	} {
		if got := explained(evidence); got != want {
			t.Errorf("%q is %q, want %q", evidence, got, want)
		}
	}
}
