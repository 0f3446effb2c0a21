package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// TestRefusedPathsNameTheLine checks that the error of a path outside the directory names
// the setting and the block, and that other errors and the value are not in it.
func TestRefusedPathsNameTheLine(t *testing.T) {
	within, err := confine.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	discovered := wrappedProgram(t, "sd", &model.Command{Options: []model.Option{
		{Names: []string{"--suffix"}, Value: model.Value{Kind: model.String}},
		{Names: []string{"--lines"}, Value: model.Value{Kind: model.Integer}},
	}, Positionals: []model.Positional{
		{Name: "find", Value: model.Value{Kind: model.String}},
		{Name: "files", Value: model.Value{Kind: model.Path}, Repeatable: true},
	}}, tool.Options{})
	block := tool.FromBlock(&tool.Block{
		Name: "replace", Description: "Replaces.",
		Paths: tool.PathsCwd, Argv: []json.RawMessage{[]byte(`"--in={a}{b}"`), []byte(`"--"`), []byte(`"{find}"`)},
		Arguments: []tool.Argument{{Name: "find", Type: "string"}, {Name: "a", Type: "string"},
			{Name: "b", Type: "string"}},
	}, tool.Options{Confined: true, Bounded: true})
	const transport, inBlock = `paths = "any" in the transport block`, `paths = "any" in the tool block`
	for _, c := range []struct {
		tool            *tool.Tool
		arguments, want string
	}{
		{discovered, `{"find":"/usr/local/bin"}`, transport},
		{discovered, `{"find":"x","files":["../x"]}`, transport},
		{discovered, `{"find":"-x"}`, ""},
		{discovered, `{"suffix":"a/b"}`, ""},
		{discovered, `{"lines":"/etc"}`, ""},
		{block, `{"find":"/usr/local/bin"}`, inBlock},
		{block, `{"find":"x","a":".","b":"./x"}`, inBlock},
	} {
		_, _, err := Argv(c.tool, json.RawMessage(c.arguments), Within(within))
		switch {
		case err == nil:
			t.Errorf("%s is allowed", c.arguments)
		case c.want != "" && !strings.Contains(err.Error(), c.want),
			c.want == "" && strings.Contains(err.Error(), "paths ="):
			t.Errorf("%s: %v", c.arguments, err)
		case strings.Contains(err.Error(), "/usr"):
			t.Errorf("the error has the value: %v", err)
		}
	}
}
