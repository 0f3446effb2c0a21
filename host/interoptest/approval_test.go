package interoptest

import (
	"os"
	"testing"
)

// TestApprovalAtTerminal: a call on a terminal asks its user where the policy says
// by = "client", and nothing is sent without a yes.
func TestApprovalAtTerminal(t *testing.T) {
	t.Parallel()
	s := newWorkspace(t, server{name: "demo", command: []string{program("demo")}})
	s.env = append(s.env, "CI=") // under CI no question is asked
	text, err := os.ReadFile(s.config)
	if err == nil {
		text = append(text,
			"policy {\n  default = \"allow\"\n  confirm {\n    tools = [\"add\"]\n    by    = \"client\"\n  }\n}\n"...)
		err = os.WriteFile(s.config, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := s.openTerminal()
	c.begin("call demo__add a=1 b=41")
	c.waitFor(`(?s)Junctor asks for your approval.*tool demo__add of server demo.*"b": 41.*Approve\? \[y/n\]`)
	c.typeLine("y")
	c.waitFor(`"sum":42`)
	c.end(0)

	c.begin("call demo__add a=2 b=41")
	c.waitFor(`Approve\? \[y/n\]`)
	c.typeLine("n")
	c.waitFor(`was not approved`)
	c.end(5)

	s.run("call", "demo__add", "a=3", "b=41").exits(5) // there is no terminal
}
