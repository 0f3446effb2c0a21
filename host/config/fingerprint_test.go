package config

import (
	"strings"
	"testing"
)

func TestFingerprintCoversWhatAConnectionDependsOn(t *testing.T) {
	const base = `
plugins { required = { kitchen = { source = "./kitchen" } } }
plugin "other" { use = "kitchen" }
server "a" {
  transport "kitchen" {
    url     = "x"
    headers = { a = "1", b = "2" }
    token   = env("API_TOKEN")
    vars    = ["A", "B"]
    bag     = { a = keyring("one") }
  }
  auth "bearer" {
    token = keyring("two")
  }
  protocol = "auto"
  timeouts {
    call = "1s"
  }
}
`
	print := func(text string) string {
		c, ds := loadText(t, text)
		if c == nil {
			t.Fatal(rendered(ds))
		}
		return c.Servers[0].Fingerprint
	}
	want := print(base)
	edit := func(old, new string) string {
		if !strings.Contains(base, old) {
			t.Fatalf("%q is not there", old)
		}
		return print(strings.Replace(base, old, new, 1))
	}
	for _, same := range [][2]string{
		{`call = "1s"`, `call = "2s"`},
		{`{ a = "1", b = "2" }`, `{ b = "2", a = "1" }`},
		{"    url     = \"x\"\n", "\n\n    # moved\n    url = \"${\"x\"}\"\n"},
		{`server "a"`, `server "renamed"`},
		{`protocol = "auto"`,
			"prefix = \"p\"\nidle = \"never\"\nrequired = true\nshare = \"global\"\ntools {\n allow = [\"x\"]\n}"},
		{`transport "kitchen"`, `transport "kitchen/sink"`},
		{`env("API_TOKEN")`, `"s3cr3t-from-env"`},
		{`keyring("one")`, `try(keyring("one"), "x")`},
	} {
		if edit(same[0], same[1]) != want {
			t.Errorf("%q for %q changes the fingerprint", same[1], same[0])
		}
	}
	for _, other := range [][2]string{
		{`url     = "x"`, `url = "y"`},
		{`b = "2"`, `b = "3"`},
		{`env("API_TOKEN")`, `"another"`},
		{`"A", "B"`, `"A", "C"`},
		{`keyring("one")`, `keyring("two")`},
		{`keyring("one")`, `"keyring"`},
		{`keyring("two")`, `keyring("one")`},
		{`token = keyring("two")`, "header = \"X-Key\"\n    token  = keyring(\"two\")"},
		{"auth \"bearer\" {\n    token = keyring(\"two\")", "auth \"oauth\" {"},
		{"  auth \"bearer\" {\n    token = keyring(\"two\")\n  }\n", ""},
		{`"auto"`, `"2025-11-25"`},
		{`protocol = "auto"`, `max_message = "32MiB"`},
		{`"./kitchen"`, `"./elsewhere/kitchen"`},
		{`transport "kitchen"`, `transport "other"`},
	} {
		if edit(other[0], other[1]) == want {
			t.Errorf("%q for %q does not change the fingerprint", other[1], other[0])
		}
	}
}
