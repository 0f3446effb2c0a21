package plugintest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

var transportCase = Transport{
	Name: "t",
	Peer: func(t testing.TB) Peer {
		address, die := EchoServer(t, "tcp")
		return Peer{Settings: fmt.Sprintf(`{"address":%q,"token":%q,"retry":[{"max":1}]}`, address, Canary), Die: die}
	},
	Hang: func(t testing.TB) string { return fmt.Sprintf(`{"address":%q,"greets":true}`, SilentServer(t, "tcp")) },
	Refused: []Refusal{
		{Settings: `{"address":"nowhere"}`, Paths: []string{"address"}},
		{Settings: `{"address":"a:1","retry":[{"max":1},{"max":0}]}`, Paths: []string{"retry[1].max"}},
	},
}

var authCase = Auth{
	Name: "a", Settings: `{}`, Login: true, Account: "alice",
	Hang: func(testing.TB) string { return `{"busy":true}` },
	Host: func(testing.TB) *Host { return &Host{Answers: map[string]string{"user": "alice", "password": Canary}} },
	Want: sdk.Credential{Headers: map[string]string{"Authorization": "Basic " + Canary}},
}

var storeCase = Store{
	Name: "v", Settings: `{"password":"` + Canary + `"}`,
	Refused: []Refusal{{Settings: `{"password":["x"]}`, Paths: []string{"password"}}},
}

func TestInProcess(t *testing.T) { InProcess(t, flawed(""), transportCase, authCase, storeCase) }

func TestBinary(t *testing.T) { Binary(t, linked(t, ""), transportCase, authCase, storeCase) }

// caught lists which check finds which flaw: in process (p), in a program (b)
// or both.
var caught = []struct{ flaw, where, check string }{
	{"fickle", "pb", "describe"},
	{"hanging", "p", "describe"},
	{"stuck", "p", "transport t close"},
	{"chatty", "b", "describe"},
	{"undocumented", "pb", "documentation"},
	{"curt", "b", "by hand"},
	{"delicate", "pb", "grease"},
	{"lingering", "b", "lifeline"},
	{"lenient", "p", "transport t refusals"},
	{"lost", "p", "transport t refusals"},
	{"vague", "p", "transport t refusals"},
	{"telling", "pb", "transport t secret"},
	{"logging", "pb", "transport t secret"},
	{"printing", "b", "transport t secret"},
	{"writing", "b", "transport t secret"},
	{"small", "p", "transport t sizes"},
	{"altering", "pb", "transport t contents"},
	{"reordering", "p", "transport t order"},
	{"sharing", "p", "transport t many"},
	{"brief", "p", "transport t grease"},
	{"stubborn", "pb", "transport t cancel"},
	{"touchy", "p", "transport t close"},
	{"deaf", "p", "transport t close"},
	{"blind", "p", "transport t death"},
	{"guilty", "p", "transport t death"},
	{"goroutine", "p", "transport t leaks"},
	{"descriptor", "pb", "transport t leaks"},
	{"child", "pb", "transport t leaks"},
	{"leaving", "b", "transport t host gone"},
	{"impatient", "p", "auth a start"},
	{"careless", "p", "auth a authorize"},
	{"wrong", "p", "auth a authorize"},
	{"empty", "p", "auth a authorize"},
	{"undecided", "p", "auth a authorize"},
	{"anonymous", "p", "auth a authorize"},
	{"forgetful", "p", "auth a login"},
	{"clinging", "p", "auth a login"},
	{"indiscreet", "pb", "auth a secret"},
	{"fragile", "pb", "auth a refused services"},
	{"unclosed", "p", "auth a stop"},
	{"engrossed", "pb", "auth a cancel"},
	{"confiding", "pb", "secret store v secret"},
	{"stingy", "p", "secret store v contents"},
	{"folding", "p", "secret store v keys"},
	{"selfish", "p", "secret store v many"},
	{"volatile", "pb", "secret store v restart"},
	{"ajar", "p", "secret store v close"},
}

// TestFlaws checks that every check can fail.
func TestFlaws(t *testing.T) {
	savedPatience, savedSettle, savedInterrupted := patience, settle, interrupted
	patience, settle, interrupted = 2*time.Second, 500*time.Millisecond, 100*time.Millisecond
	defer func() { patience, settle, interrupted = savedPatience, savedSettle, savedInterrupted }()
	savedCheck, savedStop := checkTime, stopTime
	checkTime, stopTime = 10*time.Second, 3*time.Second
	defer func() { checkTime, stopTime = savedCheck, savedStop }()
	checks := slices.Concat(commonChecks(), transportCase.checks(), authCase.checks(), storeCase.checks())
	ran := map[string]bool{}
	for _, c := range caught {
		i := slices.IndexFunc(checks, func(k check) bool { return k.name == c.check })
		if i < 0 {
			t.Errorf("there is no check %q", c.check)
			continue
		}
		ran[c.check] = true
		for _, where := range c.where {
			t.Run(c.flaw+"/"+string(where), func(t *testing.T) {
				s := inProcess(flawed(c.flaw))
				if where == 'b' {
					s = program(linked(t, c.flaw))
				}
				found := (&recorder{TB: t}).run(checks[i], s)
				if len(found) == 0 {
					t.Errorf("check %q did not find the flaw", c.check)
				}
				t.Log(found)
			})
		}
	}
	for _, k := range checks {
		if !ran[k.name] && !strings.HasSuffix(k.name, "refusals") {
			t.Errorf("no flaw makes check %q fail", k.name)
		}
	}
}

// TestHangingCodeIsNamed checks that code that never returns ends the check in
// bounded time, and that the failure names the check and the code.
func TestHangingCodeIsNamed(t *testing.T) {
	savedPatience, savedCheck, savedStop := patience, checkTime, stopTime
	patience, checkTime, stopTime = time.Second, 3*time.Second, time.Second
	defer func() { patience, checkTime, stopTime = savedPatience, savedCheck, savedStop }()
	for flaw, want := range map[string][]string{
		"hanging": {`check "describe" did not finish within 3s`, "plugintest.transport.Schema"},
		"stuck":   {"the plugin did not end within 1s", "plugintest.(*flawedConn).Close"},
	} {
		k := commonChecks()[0]
		if flaw == "stuck" {
			checks := transportCase.checks()
			k = checks[slices.IndexFunc(checks, func(k check) bool { return strings.HasSuffix(k.name, " sizes") })]
		}
		begun := time.Now()
		found := strings.Join((&recorder{TB: t}).run(k, inProcess(flawed(flaw))), "\n")
		for _, w := range want {
			if !strings.Contains(found, w) {
				t.Errorf("%s: %q is missing in %.2000s", flaw, w, found)
			}
		}
		if d := time.Since(begun); d > patience*30 {
			t.Errorf("%s: it took %s", flaw, d)
		}
	}
}

// TestServes checks that an echo does not count as a response with Serves.
func TestServes(t *testing.T) {
	savedPatience, savedSettle := patience, settle
	patience, settle = 2*time.Second, 500*time.Millisecond
	defer func() { patience, settle = savedPatience, savedSettle }()
	serving := transportCase
	serving.Serves = true
	for _, k := range serving.checks() {
		switch what := strings.TrimPrefix(k.name, "transport t "); what {
		case "sizes", "order", "many", "grease", "close":
			if found := (&recorder{TB: t}).run(k, inProcess(flawed(""))); len(found) == 0 {
				t.Errorf("check %q accepts an echo as a response", what)
			}
		}
	}
}
