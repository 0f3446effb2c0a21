package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// manyOptions returns a program with a command of thirty options and one of
// two.
func manyOptions() *model.Program {
	big := &model.Command{Path: []string{"big"}, Runnable: true, Summary: "Is big"}
	for i := range 30 {
		big.Options = append(big.Options,
			model.Option{Names: []string{fmt.Sprintf("--opt-%02d", i)}, Value: model.Value{Kind: model.Bool}})
	}
	big.Options[29].Shown = true
	big.Options[28].Mentions = 4
	big.Options[27].Names = append(big.Options[27].Names, "-x")
	big.Options[26].Required = true
	small := &model.Command{Path: []string{"small"}, Runnable: true, Options: []model.Option{
		{Names: []string{"--one"}, Value: model.Value{Kind: model.Bool}},
		{Names: []string{"--opt-05"}, Value: model.Value{Kind: model.Bool}},
	}}
	return &model.Program{Name: "prog", Root: &model.Command{Commands: []*model.Command{big, small}}}
}

// offeredBy returns the names of the options of each tool.
func offeredBy(t *testing.T, o Options) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, made := range FromProgram(manyOptions(), o) {
		all[made.Name] = []string{}
		for _, p := range made.Parameters {
			all[made.Name] = append(all[made.Name], p.Name)
		}
	}
	return all
}

// TestCommonOptionsAreOffered checks their order: options of the usage, options
// that the help names most, options with a letter. Required options are never
// left out.
func TestCommonOptionsAreOffered(t *testing.T) {
	for common, want := range map[int][]string{
		1: {"opt-26", "opt-29"},
		3: {"opt-26", "opt-27", "opt-28", "opt-29"},
		5: {"opt-00", "opt-01", "opt-26", "opt-27", "opt-28", "opt-29"},
	} {
		all := offeredBy(t, Options{Common: common})
		if !slices.Equal(all["big"], want) {
			t.Errorf("common = %d: %q, want %q", common, all["big"], want)
		}
		if common > 1 && len(all["small"]) != 2 {
			t.Errorf("common = %d: %q", common, all["small"])
		}
	}
	if all := offeredBy(t, Options{Common: 0}); len(all["big"]) != 30 {
		t.Errorf("%d options are offered without a limit", len(all["big"]))
	}
	made := FromProgram(manyOptions(), Options{Common: 5})[0]
	if !strings.Contains(made.Description, " Offers 6 of 30 options.") || len(made.LeftOut) != 24 ||
		made.LeftOut[0] != "--opt-02" {
		t.Errorf("%q, left out: %q", made.Description, made.LeftOut)
	}
	if b := Record(made); strings.Contains(b.Description, "Offers") {
		t.Errorf("the recorded description names the options that are left out: %q", b.Description)
	}
}

// TestOptionsSelects checks that an element applies to the commands of its path
// and that other commands keep their common options.
func TestOptionsSelects(t *testing.T) {
	for _, c := range []struct {
		options    string
		big, small int
	}{
		{"big --opt-03", 2, 1},          // with the required option; small has the first of two
		{"big opt-03,big opt-04", 3, 1}, // dashes may be left out
		{"big *", 30, 1},
		{"*g --opt-0?", 11, 1},
		{"--opt-05", 2, 1},
		{"** --one", 1, 1},
		{"small --one", 2, 1},
	} {
		all := offeredBy(t, Options{Common: 1, Only: strings.Split(c.options, ",")})
		if len(all["big"]) != c.big || len(all["small"]) != c.small {
			t.Errorf("%s: %q", c.options, all)
		}
	}
}

func TestOptionsThatMatchNothing(t *testing.T) {
	for i, list := range [][]string{
		{"--opt-3x"}, {"big --one"}, {"small --one", "smal --one"}, {"--opt-01", "big opt-01 --x"}, {"big"},
	} {
		o := Options{Only: list}
		err := o.Unused(manyOptions())
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok || !strings.HasPrefix(e.Path, "options[") || e.Hint == "" {
			t.Errorf("%d: %v", i, err)
		}
	}
	o := Options{Only: []string{"big --opt-*", "--one", "small *"}}
	if err := o.Unused(manyOptions()); err != nil {
		t.Error(err)
	}
}

// TestBriefDescriptions checks that brief descriptions have the first sentence
// and what the schema does not show, within the limit.
func TestBriefDescriptions(t *testing.T) {
	long := strings.Repeat("very ", 60) + "long"
	for _, c := range []struct {
		p    Parameter
		want string
	}{
		{Parameter{Name: "a", Spelling: "--a", Description: "Does it. And more of it.",
			Value: model.Value{Kind: model.Bool}}, "Does it."},
		{Parameter{Name: "a", Spelling: "--a", Description: "Uses e.g. this file. And more.",
			Value: model.Value{Kind: model.Bool}}, "Uses e.g. this file."},
		{Parameter{
			Name: "a", Spelling: "--a", Description: "Reads v1.2. files here", Value: model.Value{Kind: model.Bool},
		}, "Reads v1.2. files here."},
		{Parameter{Name: "opt_a", Spelling: "-a", Description: "Does it", Value: model.Value{Kind: model.Bool}},
			"Does it."},
		{Parameter{Name: "a", Spelling: "--a", Negation: "--no-a", Description: "Does it",
			Value: model.Value{Kind: model.Bool}}, "Does it. False: --no-a."},
		{Parameter{Name: "a", Spelling: "--a", Description: "Prints <what>",
			Value: model.Value{Kind: model.String, Placeholder: "what", Optional: true}},
			"Prints <what>. True: no value."},
		{Parameter{Name: "a", Spelling: "--a", Description: "Prints",
			Value: model.Value{Kind: model.String, Placeholder: "what"}}, "Prints. Value: what."},
		{Parameter{Name: "a", Spelling: "--a", Value: model.Value{Kind: model.String}}, ""},
	} {
		if got := c.p.brief(false); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	p := Parameter{Name: "a", Spelling: "--a", Negation: "--no-a", Description: long,
		Value: model.Value{Kind: model.String, Placeholder: "what", Optional: true, Default: "x"}}
	if got := p.brief(false); len(got) > briefAbout+len("…") || !strings.HasSuffix(got, "Default: x.") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	program := manyOptions()
	program.Root.Commands[0].Description = long + ". " + long + "."
	made := FromProgram(program, Options{Brief: true, Common: 3})[0]
	short, _, _ := strings.Cut(made.Description, " With common = 0")
	if n := len(short); n > briefDescription+len("…") ||
		!strings.HasSuffix(short, "Runs prog big. Offers 4 of 30 options.") {
		t.Errorf("%d bytes: %q", n, made.Description)
	}
	// The result is deterministic.
	if again := FromProgram(program,
		Options{Brief: true, Common: 3})[0]; string(again.JSON(true)) != string(made.JSON(true)) {
		t.Errorf("%s\n%s", made.JSON(true), again.JSON(true))
	}
}

// TestOnlyToolHasMoreOptions checks how many options the only tool of a program offers, and
// how its description names the others.
func TestOnlyToolHasMoreOptions(t *testing.T) {
	program := func(options, tools int) *model.Program {
		root := &model.Command{}
		for i := range tools {
			c := command(fmt.Sprintf("c%d", i))
			for j := range options {
				c.Options = append(c.Options, model.Option{Names: []string{fmt.Sprintf("--some-option-%03d", j)},
					Description: strings.Repeat("Says much ", 10), Value: model.Value{Kind: model.String}})
			}
			c.Options[options-1].Names = append(c.Options[options-1].Names, "-x")
			c.Options[0].Mentions = 20
			root.Commands = append(root.Commands, c)
		}
		return &model.Program{Name: "prog", Root: root}
	}
	automatic := Options{Brief: true, Common: CommonDefault, Budget: BudgetDefault}
	small := automatic
	small.Budget = 10
	for _, c := range []struct {
		name           string
		options, tools int
		with           Options
		least, most    int
		names          string // in the description
	}{
		{"all fit", 40, 1, automatic, 40, 40, ""},
		{"many", 300, 1, automatic, 40, 100, "With common = 0 in the transport block also: --some-option-"},
		{"a small budget", 300, 1, small, 20, 20, "also: --some-option-"},
		{"two tools", 40, 2, automatic, 20, 20, "also: --some-option-"},
		{"an explicit number", 40, 1, Options{Common: 5}, 5, 5, "also: --some-option-"},
		{"all by an explicit number", 300, 1, Options{}, 300, 300, ""},
		{"options by name", 40, 1, Options{Only: []string{"--some-option-001"}, Common: 20, Budget: BudgetDefault}, 1,
			1, "!With common"},
		{"no room for names", 40, 50, automatic, 20, 20, "!With common"},
	} {
		made := FromProgram(program(c.options, c.tools), c.with)[0]
		if n := len(made.Parameters); n < c.least || n > c.most {
			t.Errorf("%s: %d options, want %d to %d", c.name, n, c.least, c.most)
		}
		if size := len(made.Input); c.with.Budget == BudgetDefault && size > 4*BudgetDefault+200 {
			t.Errorf("%s: the schema has %d bytes", c.name, size)
		}
		unwanted, absent := strings.CutPrefix(c.names, "!")
		if strings.Contains(made.Description, unwanted) == absent {
			t.Errorf("%s: %s", c.name, made.Description)
		}
		if size := len(made.Description); size > briefDescription+namesBytes+len("…") {
			t.Errorf("%s: the description has %d bytes", c.name, size)
		}
		if len(made.Parameters) < c.options && len(c.with.Only) == 0 && (made.Parameter("some-option-000") == nil ||
			made.Parameter(fmt.Sprintf("some-option-%03d", c.options-1)) == nil) {
			t.Errorf("%s: an option with a letter, or one that is named often, is left out", c.name)
		}
		if block := Record(made); strings.Contains(block.Description, "With common") ||
			strings.Contains(block.Description, "Offers") {
			t.Errorf("%s: a tool block has the sentence: %s", c.name, block.Description)
		}
	}
}
