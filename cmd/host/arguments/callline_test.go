package arguments

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/classify"
)

// TestFirstCallProposesNoChange: add proposes a reading tool, or a command that is to be filled in.
func TestFirstCallProposesNoChange(t *testing.T) {
	tool := func(name string, kind classify.Kind, input string) *catalog.Tool {
		return &catalog.Tool{Item: catalog.Item{Exposed: name}, Input: []byte(input), Class: classify.Class{Kind: kind}}
	}
	const none, one = `{"type":"object"}`,
		`{"type":"object","properties":{"a b":{"type":"string"},"c":{"type":"string"}},"required":["a b"]}`
	wipe, write := tool("s__wipe", classify.Write, none), tool("s__write", classify.Write, one)
	get, list := tool("s__get", classify.Read, one), tool("s__list", classify.Read, none)
	environment := tool("s__get-env", classify.Read, none)
	environment.Name = "get-env"
	for _, c := range []struct {
		tools []*catalog.Tool
		want  string
	}{
		{[]*catalog.Tool{wipe}, "junctor inspect s__wipe"},
		{[]*catalog.Tool{wipe, write}, "junctor call s__write 'a b'=…"},
		{[]*catalog.Tool{write, get}, "junctor call s__get 'a b'=…"},
		{[]*catalog.Tool{write, get, list, wipe}, "junctor call s__list"},
		{[]*catalog.Tool{environment, get}, "junctor call s__get 'a b'=…"},
		{[]*catalog.Tool{environment}, "junctor inspect s__get-env"},
		{[]*catalog.Tool{tool("s__odd", classify.Ambiguous, none), tool("s__other", classify.Ambiguous, one)},
			"junctor call s__other 'a b'=…"},
	} {
		if got := FirstCall(c.tools); got != c.want {
			t.Errorf("%d tools: %q, want %q", len(c.tools), got, c.want)
		}
	}
}
