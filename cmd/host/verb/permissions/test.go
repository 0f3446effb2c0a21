package permissions

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/policy/check"
)

// testOptions are what test needs.
type testOptions struct {
	inv    *invocation.Invocation
	strict bool // fail for a warning, too
}

// Test returns the verb test.
func Test(inv *invocation.Invocation) *cobra.Command {
	o := &testOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Run the test blocks of the configuration",
		Long: `Run the test blocks of the configuration, which say what the policy is to decide. No server is asked: a tool is
classified by its name and the configuration.

With --strict, as for CI, a warning fails too: a role, a tool or an argument that is not known. The tools of a server are
known once it was asked: run junctor tools first.`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail for a warning, too")
	return cmd
}

// testJSON is the JSON form of a tested use.
type testJSON struct {
	Test   string `json:"test"`
	At     string `json:"at"`
	Item   string `json:"item"`
	Expect string `json:"expect"`
	Got    string `json:"got"`
	Rule   string `json:"rule"`
	Passed bool   `json:"passed"`
}

func (o *testOptions) run(ctx context.Context) error {
	inv := o.inv
	app, err := inv.Load(ctx, invocation.Needs{Known: true})
	if err != nil {
		return err
	}
	warned := check.Tests(app.Config(), app.Catalog)
	inv.TellDiagnostics(app, warned)
	all, failed := []testJSON{}, 0
	for _, r := range check.RunTests(app.Config(), app) {
		all = append(all,
			testJSON{r.Test.Name, r.Use.At.String(), r.Use.Item.String(), r.Use.Expect, r.Got, r.Rule, r.Passed})
		if !r.Passed {
			failed++
		}
	}
	if inv.Machine() {
		if err := inv.PrintJSON(all); err != nil {
			return err
		}
	} else {
		for _, t := range all {
			if !t.Passed {
				got := "is " + t.Got
				if t.Got == policy.Depends.String() {
					got = "depends on the arguments, which the test does not give"
				}
				inv.PrintFields("FAIL %s at %s: %s %s, not %s: %s\n", t.Test, t.At, t.Item, got, t.Expect, t.Rule)
			}
		}
		if len(all) > 0 {
			inv.Printf("%d passed, %d failed\n", len(all)-failed, failed)
		}
	}
	switch {
	case len(all) == 0:
		return fault.New(fault.TestFailed, "the configuration has no test blocks").
			WithHint("docs/permissions.md shows one")
	case o.strict && len(warned) > 0 && failed == 0:
		return fault.New(fault.TestFailed, "%s about the test blocks", terminal.Count(len(warned), "warning")).
			WithHint("correct the names; without --strict warnings do not fail")
	}
	if failed > 0 {
		return fault.New(fault.TestFailed, "%d of %d tested uses are not decided as expected", failed, len(all)).
			WithHint("junctor why explains a decision")
	}
	return nil
}
