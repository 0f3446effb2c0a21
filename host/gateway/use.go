package gateway

import (
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A use is the use of an item that a request asks for. The stages resolve and authorize make
// it; the later ones and the route read it. The goroutine of the request owns it. A suspended
// call keeps that of its first request.
type use struct {
	*pendingRequest
	params []byte // those that the server gets

	item      policy.Item      // set by resolve; zero: the request is about none
	tool      *catalog.Tool    // the item, if it is a tool
	prompt    *catalog.Prompt  // the item, if it is a prompt
	resource  catalog.Location // the item, if it is a resource
	requested string           // the name or URI that the client used for the item
	given     []byte           // the arguments of a tool call as the client wrote them
	task      string           // the id of the task that the request is about
	// failing is the server that the item belongs to by its name, whose lists could not be
	// read or whose tool is held back; set by resolve.
	failing string

	permit       policy.Permit    // set by authorize
	approval     *policy.Approval // set by authorize; nil: the request needs none
	approvalID   string           // set by confirm; empty: nothing waits or was used
	decision     string           // set by authorize
	rule         string           // set by authorize; that decided
	ruleName     string           // set by authorize
	policyDigest string           // set by authorize
	denied       bool             // set by authorize; the error may hide it
	hidden       int              // set by list; items that the policy left out

	limitedBy limit.Scope   // whose limit of calls refused the request; empty: none did
	leave     func()        // gives back the call's place under the limits of its tool; nil: it has none
	carried   *carriedState // set by openState
}

// newUse returns the use that a request makes of an item. It is not known yet of which one.
func newUse(r *pendingRequest) *use { return &use{pendingRequest: r, params: r.params} }
