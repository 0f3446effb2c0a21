//go:build unix

package host

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/console/source"
	"github.com/junctor-mcp/junctor/host/policy"
)

// TestConsoleExplainsRequestsThatArePartlyKnown: a rule about a member of the request that a
// person does not describe leaves the decision open. Only the command line has an address of
// its own.
func TestConsoleExplainsRequestsThatArePartlyKnown(t *testing.T) {
	a := loadApp(t)
	defer a.Stop()
	if err := a.audited(t, `policy {
  default = "deny"
  time_zone = "UTC"
  role "inside" {
    deny {
      when = !network(request.address, "10.0.0.0/8")
    }
    allow {
    }
  }
  role "day" {
    allow {
      when = request.hour < 18
    }
  }
  role "temporary" {
    allow {
      when = request.time < date("2026-12-31")
    }
  }
  role "failing" {
    deny {
      when = startswith(principal.claims.team, "blue")
    }
  }
  role "named" {
    allow {
      when = request.client == "claude"
    }
  }
  role "issued" {
    allow {
      when = principal.issuer == "https://idp"
    }
  }
}
`); err != nil {
		t.Fatal(err)
	}
	var all console.Sources
	(&source.Process{Config: a.Config, Gateway: a.Gateway}).Fill(&all)
	tool, _ := a.Unlisted("steady", "sleep")
	local := authn.Local()
	for name, c := range map[string]struct {
		use  console.Use
		role string
		want policy.Verdict
	}{
		"no address":          {console.Use{}, "inside", policy.Depends},
		"a time only":         {console.Use{Time: "2026-03-01T12:00", Client: "claude"}, "inside", policy.Depends},
		"an address inside":   {console.Use{Address: "10.1.2.3"}, "inside", policy.Allow},
		"an address outside":  {console.Use{Address: "192.0.2.1"}, "inside", policy.Deny},
		"the command line":    {console.Use{Who: local}, "inside", policy.Deny},
		"no time":             {console.Use{Address: "10.1.2.3"}, "day", policy.Depends},
		"at noon":             {console.Use{Time: "2026-03-01T12:00"}, "day", policy.Allow},
		"at night":            {console.Use{Time: "2026-03-01T22:00"}, "day", policy.Deny},
		"no date":             {console.Use{Address: "10.1.2.3"}, "temporary", policy.Depends},
		"before the date":     {console.Use{Time: "2026-12-30T23:59"}, "temporary", policy.Allow},
		"at the date":         {console.Use{Time: "2026-12-31T00:00"}, "temporary", policy.Deny},
		"no claims":           {console.Use{}, "failing", policy.Deny},
		"no client":           {console.Use{Address: "10.1.2.3"}, "named", policy.Depends},
		"the client":          {console.Use{Client: "claude"}, "named", policy.Allow},
		"another client":      {console.Use{Client: "cursor"}, "named", policy.Deny},
		"the issuer":          {console.Use{Who: authn.Principal{Issuer: "https://idp"}}, "issued", policy.Allow},
		"no issuer":           {console.Use{}, "issued", policy.Deny},
		"no role of the rule": {console.Use{}, "other", policy.Deny},
	} {
		u := c.use
		u.Tool, u.Args, u.Who.Roles = tool, []byte("{}"), []string{c.role}
		x, err := all.Policy.Explain(u)
		if err != nil || x.Decision.Verdict != c.want {
			t.Errorf("%s: %s because %s, %v, want %s", name, x.Decision.Verdict, x.Decision.Rule, err, c.want)
		}
		if failed := strings.Contains(x.Decision.Because(),
			"failed: principal.claims.team is null"); failed != (c.role == "failing") {
			t.Errorf("%s: because %s", name, x.Decision.Because())
		}
	}
	for _, u := range []console.Use{{Address: "nowhere"}, {Address: "10.0.0.0/8"}, {Time: "noon"},
		{Time: "2026-13-01T00:00"}} {
		u.Tool = tool
		if _, err := all.Policy.Explain(u); err == nil {
			t.Errorf("%+v is accepted", u)
		}
	}
}
