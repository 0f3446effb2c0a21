package host

import (
	"fmt"
	"strings"
	"testing"
)

// TestMasksOfConfigurations: many reloads remove neither the mask in effect nor those of
// configurations whose connections are open.
func TestMasksOfConfigurations(t *testing.T) {
	r := &redactor{}
	use := func(secret string) *configMask {
		return r.use(func(text string) string { return strings.ReplaceAll(text, secret, "***") },
			func(text string) bool { return strings.Contains(text, secret) })
	}
	inEffect, drains := use("in-effect"), use("drains")
	for range 2 * maxRetiredMasks {
		r.drop(use("discarded"))
	}
	var retired []*configMask
	for n := range maxRetiredMasks + 1 {
		retired = append(retired, use(fmt.Sprintf("retired-%d", n)))
	}
	for _, m := range retired {
		r.retire(m)
	}
	if got := r.hide("in-effect, drains, discarded, retired-0, retired-1, retired-8"); got !=
		"***, ***, discarded, retired-0, ***, ***" {
		t.Error(got)
	}
	r.retire(drains)
	r.retire(inEffect)
	if n := len(*r.configured.Load()); n != maxRetiredMasks {
		t.Errorf("%d masks", n)
	}
}

// TestLateSecretIsConcealed: a secret that came late is hidden however others print it: quoted,
// line by line, or without the white space around it.
func TestLateSecretIsConcealed(t *testing.T) {
	const key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJrYq\nRwQm8nUu\n-----END PRIVATE KEY-----\n"
	v := &redactor{}
	for _, secret := range []string{"tok3n-of-ada", key, "trimmed-t0ken\n\n", `a "quoted" one`, "short"} {
		v.add(secret)
	}
	for text, want := range map[string]string{
		"Bearer tok3n-of-ada!":                     "Bearer ***!",
		"line: MC4CAQAwBQYDK2VwBCIEIJrYq":          "line: ***",
		"line: RwQm8nUu":                           "line: ***",
		"the token is trimmed-t0ken":               "the token is ***",
		`{"t":"a \"quoted\" one"}`:                 `{"t":"***"}`,
		fmt.Sprintf("%q", "x"+key):                 `"x***"`,
		"a short word":                             "a short word",
		"nothing of it":                            "nothing of it",
		strings.ReplaceAll(key, "\n", "\r\n")[:29]: "***\r\n",
	} {
		if got := v.hide(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	v.keep("a person's secret")
	for n := range maxObtainedSecrets {
		v.obtained = append(v.obtained, fmt.Sprintf("another-token-%d", n))
	}
	v.add("the-last-token")
	if got := v.hide("tok3n-of-ada, a person's secret, another-token-1, the-last-token"); got !=
		"tok3n-of-ada, ***, ***, ***" {
		t.Errorf("the oldest goes first: %s", got)
	}
}
