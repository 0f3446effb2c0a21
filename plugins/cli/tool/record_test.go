package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// TestRecordedToolIsEqual checks that a tool from a recorded block has the same
// parameters and spellings.
func TestRecordedToolIsEqual(t *testing.T) {
	program := &model.Program{Name: "p", Root: &model.Command{Commands: []*model.Command{
		{Path: []string{"do", "{it}"}, Summary: "Does it.", Runnable: true, Terminator: true,
			Options: []model.Option{
				{Names: []string{"--all", "-a"}, Value: model.Value{Kind: model.Bool}, Negation: "--no-all"},
				{Names: []string{"-v"}, Value: model.Value{Kind: model.Count}, Repeatable: true},
				{Names: []string{"--format"}, Description: "How.", Value: model.Value{Kind: model.Enum,
					Choices: []string{"json", "text"}, Default: "text", Equals: true}},
				{Names: []string{"--label"}, Value: model.Value{Kind: model.Map}, Repeatable: true},
				{Names: []string{"--one"}, Value: model.Value{Kind: model.Bool}},
				{Names: []string{"--wait"}, Value: model.Value{Kind: model.Bool, Default: "true", Equals: true}},
				{Names: []string{"--8-bit"}, Value: model.Value{Kind: model.Bool}},
				{Names: []string{"--two"}, Value: model.Value{Kind: model.Bool}},
				{Names: []string{"--options"}, Value: model.Value{Kind: model.List, Separator: ","}, Required: true},
			},
			Conflicts: [][]string{{"--one", "--two", "--all"}},
			Positionals: []model.Positional{
				{Name: "what", Value: model.Value{Kind: model.String}, Required: true},
				{Name: "path", Value: model.Value{Kind: model.Path}, Repeatable: true, AfterTerminator: true},
			}},
		{Path: []string{"look"}, Summary: "Looks.", Runnable: true},
	}}}
	for _, made := range FromProgram(program, Options{Destructive: []string{"do"}, Idempotent: []string{"do"}}) {
		text, err := json.Marshal(map[string]any{"command": []string{"p"},
			"tool": []object{settings(reflect.ValueOf(Record(made)))}})
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Command []string `hcl:"command" doc:"."`
			Tools   []Block  `hcl:"tool,block" doc:"."`
		}
		schema := sdk.SchemaOf[struct {
			Command []string `hcl:"command" doc:"."`
			Tools   []Block  `hcl:"tool,block" doc:"."`
		}]()
		if err := sdk.Decode(schema, text, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := CheckBlocks(read.Tools, nil); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again := fromBlocks(read.Tools, Options{})[0]
		if again.Name != made.Name || again.Access.Kind != made.Access.Kind || again.Idempotent != made.Idempotent {
			t.Errorf("%+v became %+v", made, again)
		}
		if len(again.Parameters) != len(made.Parameters) {
			t.Fatalf("%d parameters became %d", len(made.Parameters), len(again.Parameters))
		}
		for i, p := range made.Parameters {
			q := again.Parameters[i]
			p.Name = argumentName(p.Name)
			same := func(p Parameter) string {
				return fmt.Sprint(p.Name, p.Spelling, p.Negation, p.Description, p.Required, p.Several(), p.Value.Kind,
					p.Value.Choices, p.Value.Separator, p.Value.Equals && p.Value.Kind.TakesValue(), p.No())
			}
			if same(p) != same(q) {
				t.Errorf("%s became %s", same(p), same(q))
			}
		}
		if got, want := pairs(again.Conflicts), pairs(made.Conflicts); got != want {
			t.Errorf("conflicts %v became %v", want, got)
		}
	}
}

// pairs returns the pairs of parameters that exclude each other.
func pairs(sets [][]string) int {
	n := 0
	for _, s := range sets {
		n += len(s) * (len(s) - 1) / 2
	}
	return n
}
