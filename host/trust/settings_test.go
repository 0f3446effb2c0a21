package trust

import (
	"strings"
	"testing"
	"time"
)

const settled = `locals {
  who = "me"
}
server "a" {
  idle = "5m"
  timeouts {
    call = "10s"
  }
  transport "stdio" {
    command = ["./run.sh", "one"]
    env     = { TOKEN = "secret-secret", A = file("a.txt") }
  }
  tools {
    deny = ["delete_*"]
  }
}
policy {
  default = "deny"
  allow {
  }
}
`

// TestSameSettings checks which changes of a trusted configuration need no second question:
// those of comments, layout and time. A change of who may do what is none of them, although a
// review does not show it.
func TestSameSettings(t *testing.T) {
	edit := func(old, new string) func(s site) {
		if !strings.Contains(settled, old) {
			t.Fatalf("%q is not in the configuration", old)
		}
		return func(s site) { s.write("junctor.hcl", strings.Replace(settled, old, new, 1)) }
	}
	for name, c := range map[string]struct {
		change func(s site)
		same   bool
	}{
		"nothing":                    {func(site) {}, true},
		"a comment":                  {edit(`server "a"`, "# mine\nserver \"a\""), true},
		"a comment in a list":        {edit(`"one"]`, "\"one\" /* the first */]"), true},
		"spaces":                     {edit(`idle = "5m"`, `idle     =    "5m"`), true},
		"lines":                      {edit(`tools {`, "\n\n\n  tools {"), true},
		"a comma at the end":         {edit(`"one"]`, "\"one\"\n    ]"), true},
		"a call's time":              {edit(`call = "10s"`, "call = \"90s\"\n    start = \"1m\""), true},
		"no times":                   {edit("timeouts {\n    call = \"10s\"\n  }", ""), true},
		"the idle time":              {edit(`idle = "5m"`, `idle = "never"`), true},
		"no idle time":               {edit(`idle = "5m"`, ``), true},
		"an argument":                {edit(`"one"`, `"two"`), false},
		"a value that is masked":     {edit(`secret-secret`, `secret-another`), false},
		"a tool that was denied":     {edit(`deny = ["delete_*"]`, `deny = []`), false},
		"a rule of tools less":       {edit("tools {\n    deny = [\"delete_*\"]\n  }", ""), false},
		"the policy":                 {edit(`default = "deny"`, `default = "allow"`), false},
		"a rule":                     {edit("allow {\n  }", "allow {\n    tools = [\"x\"]\n  }"), false},
		"a description":              {edit(`idle = "5m"`, "idle = \"5m\"\n  description = \"use it\""), false},
		"a local":                    {edit(`"me"`, `"you"`), false},
		"a computed time":            {edit(`idle = "5m"`, `idle = env("IDLE")`), false},
		"times that are computed":    {edit(`call = "10s"`, `call = env("CALL")`), false},
		"a comment becomes settings": {edit(`tools {`, "# x\n  enabled = true\n  tools {"), false},
		"settings become a comment":  {edit(`deny = ["delete_*"]`, `# deny = ["delete_*"]`), false},
		"another block's timeouts":   {edit("policy {", "policy {\n  timeouts {\n  }"), false},
		"idle of a transport":        {edit(`command =`, "idle = \"1m\"\n    command ="), false},
		"a file that file() reads":   {func(s site) { s.write("a.txt", "b") }, false},
		"a lock file":                {func(s site) { s.write("junctor.lock.hcl", "# new\n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := site{t, t.TempDir()}
			s.write("junctor.hcl", settled)
			s.write("a.txt", "a")
			known := s.review().Record(time.Now())
			c.change(s)
			if got := s.review().SameSettings(&known); got != c.same {
				t.Errorf("the same settings: %t", got)
			}
		})
	}
}

// TestOldRecordsAreNotCompared checks that a record without the digest of the settings, and none
// at all, is compared as a whole.
func TestOldRecordsAreNotCompared(t *testing.T) {
	s := newSite(t)
	r := s.review()
	old := r.Record(time.Now())
	old.Settings = ""
	if r.SameSettings(&old) || r.SameSettings(nil) {
		t.Error("the settings are known")
	}
}
