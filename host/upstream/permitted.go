package upstream

import (
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// permitted reports whether the permit of a call covers the item and arguments in its
// params.
func (c *Call) permitted(server string) bool {
	switch c.Method {
	case mcp.MethodCallTool:
		name, _ := mcp.TextMember(c.Params, "name")
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Tool, Name: name}, mcp.Member(c.Params, "arguments"))
	case mcp.MethodGetPrompt:
		name, _ := mcp.TextMember(c.Params, "name")
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Prompt, Name: name}, nil)
	case mcp.MethodReadResource:
		uri, _ := mcp.TextMember(c.Params, "uri")
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Resource, Name: uri}, nil)
	case mcp.MethodComplete:
		return c.permitsCompletion(server)
	case mcp.MethodGetTask, mcp.MethodUpdateTask, mcp.MethodCancelTask:
		return c.Permit.CoversTool(server)
	}
	return false
}

// permitsCompletion reports whether the permit covers the prompt, the resource or
// the template whose argument is completed.
func (c *Call) permitsCompletion(server string) bool {
	ref := mcp.Member(c.Params, "ref")
	if name, ok := mcp.TextMember(ref, "name"); ok {
		return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Prompt, Name: name}, nil)
	}
	uri, _ := mcp.TextMember(ref, "uri")
	return c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Template, Name: uri}, nil) ||
		c.Permit.Covers(c.Principal, policy.Item{Server: server, Kind: policy.Resource, Name: uri}, nil)
}
