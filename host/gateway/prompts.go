package gateway

import (
	"context"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

func resolvePrompt(ctx context.Context, r *request) error {
	if r.local != nil {
		r.setPrompt(r.local.Prompt)
		return nil
	}
	name, ok := mcp.TextMember(r.params, "name")
	if !ok {
		return &rpcError{code: mcp.CodeInvalidParams, message: "prompts/get needs a name"}
	}
	defer r.reportStartOf(name)()
	p, err := r.gw.finder.prompt(ctx, r, name)
	if err != nil {
		return err
	}
	r.setPrompt(p)
	return nil
}

func (r *request) setPrompt(p *catalog.Prompt) {
	r.prompt, r.item, r.requested = p, policy.Item{Server: p.Server, Kind: policy.Prompt, Name: p.Name}, p.Exposed
	if p.Exposed != p.Name {
		r.params = mcp.SetMember(r.params, "name", mcp.AppendText(nil, p.Name))
	}
}

func validatePrompt(_ context.Context, r *request) error {
	var missing []string
	for _, a := range r.prompt.Arguments {
		if a.Required && mcp.Member(r.params, "arguments", a.Name) == nil {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.CallArguments, "prompt %q needs %s", r.prompt.Exposed, strings.Join(missing, ", ")).
			WithHint("the list of prompts says what each argument is")
	}
	return nil
}
