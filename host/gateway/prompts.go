package gateway

import (
	"context"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// resolvePrompt and validatePrompt are the stages of prompts/get (routes.go), on the goroutine of the request.
func resolvePrompt(ctx context.Context, u *use) error {
	name, ok := mcp.TextMember(u.params, "name")
	if !ok {
		return &rpcError{code: mcp.CodeInvalidParams, message: "prompts/get needs a name"}
	}
	defer reportStartOf(u.pendingRequest, name)()
	p, err := u.gw.finder.prompt(ctx, u, name)
	if err != nil {
		return err
	}
	u.setPrompt(p)
	return nil
}

func (u *use) setPrompt(p *catalog.Prompt) {
	u.prompt, u.item, u.requested = p, policy.Item{Server: p.Server, Kind: policy.Prompt, Name: p.Name}, p.Exposed
	if p.Exposed != p.Name {
		u.params = mcp.SetMember(u.params, "name", mcp.AppendText(nil, p.Name))
	}
}

// validatePrompt is the stage validate of prompts/get; it keeps no state.
func validatePrompt(_ context.Context, u *use) error {
	var missing []string
	for _, a := range u.prompt.Arguments {
		if a.Required && mcp.Member(u.params, "arguments", a.Name) == nil {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.CallArguments, "prompt %q needs %s", u.prompt.Exposed, strings.Join(missing, ", ")).
			WithHint("the list of prompts says what each argument is")
	}
	return nil
}
