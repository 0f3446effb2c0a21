package launchplan_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/sandbox/launchplan"
)

// TestPlansSurviveTheCommandLine checks that the launcher reads what was written.
func TestPlansSurviveTheCommandLine(t *testing.T) {
	for _, p := range []launchplan.Plan{
		{},
		{Ruleset: true},
		{Own: []launchplan.Rule{{"/proc/self", 13}, {"/a:b c", 1 << 40}}},
		{Ruleset: true, RulesetFlags: 1 << 31},
		{Filters: []launchplan.Filter{{0, 1<<64 - 1, 0x0020000000000004}, {6}}},
		{Limits: []launchplan.Limit{{7, 20}, {9, 1<<64 - 1}}},
	} {
		got, rest, err := launchplan.Parse(append(p.Words(), "/bin/true", "--", "ruleset=0"))
		if err != nil || !reflect.DeepEqual(got, p) || strings.Join(rest, " ") != "/bin/true -- ruleset=0" {
			t.Errorf("%+v became %+v, %q, %v", p, got, rest, err)
		}
	}
}

// TestDamagedPlansAreRefused checks that nothing is left out of a plan that
// cannot be read.
func TestDamagedPlansAreRefused(t *testing.T) {
	for _, words := range []string{
		"", "ruleset=0", "/bin/true", "ruleset= --", "ruleset=g --", "ruleset=100000000 --", "filter= --",
		"filter=1 --", "filter=00000000000000000 --", "filter=000000000000000g --", "filter=+000000000000001 --",
		"own= --", "own=1 --", "own=1: --", "own=:/a --", "own=g:/a --", "limit= --", "limit=7 --", "limit=7: --",
		"limit=:1 --", "limit=-1:1 --", "limit=7:-1 --", "other=1 --", "filter=" + strings.Repeat("0", 16*4097) + " --",
	} {
		if p, _, err := launchplan.Parse(strings.Fields(words)); err == nil {
			t.Errorf("%.40q is read as %+v", words, p)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, f := range []launchplan.Failure{{launchplan.Executing, 2}, {"restricting files", 0}} {
		if got, err := launchplan.ParseFailure(f.String()); err != nil || got != f {
			t.Errorf("%+v became %+v, %v", f, got, err)
		}
	}
	for _, text := range []string{"", "+", "step", "step:", "step:x", "step:-1", "step:70000"} {
		if f, err := launchplan.ParseFailure(text); err == nil {
			t.Errorf("%q is read as %+v", text, f)
		}
	}
}
