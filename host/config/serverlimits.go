package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// Shares are a per_tenant or a per_principal block: how much of the limits of the gateway
// one tenant or one principal may use at one time. A nil field is not set, and zero is no
// limit.
type Shares struct {
	Requests    *int `hcl:"requests" min:"0" max:"100000" doc:"Requests in progress. 0 is no limit." json:",omitempty"`
	Streams     *int `hcl:"streams" min:"0" max:"100000" doc:"Listen streams of modern clients. 0 is no limit." json:",omitempty"`
	Sessions    *int `hcl:"sessions" min:"0" max:"100000" doc:"Sessions. 0 is no limit." json:",omitempty"`
	Connections *int `hcl:"connections" min:"0" max:"100000" doc:"Connections to one server that not all clients share. 0 is no limit." json:",omitempty"`
	// In bytes.
	Memory *int `hcl:"memory" format:"size" min:"1MiB" max:"999999MiB" doc:"Memory of messages." json:",omitempty"`

	memoryAt hcl.Range
}

// Validate implements [language.Validator].
func (s *Shares) Validate(r language.Reader) {
	if s.Memory != nil {
		s.memoryAt = r.ValueAt("memory", r.Head)
	}
}

// checkShares compares the shares of the memory with the largest message of every
// server.
func (l *loader) checkShares(g *Gateway, drafts []*draft) {
	for _, s := range []Shares{g.Limits.PerTenant, g.Limits.PerPrincipal} {
		if s.Memory == nil {
			continue
		}
		for _, d := range drafts {
			if d.MaxMessage > *s.Memory {
				l.layers[0].empty("limits").ErrorAt(s.memoryAt, "raise it, or lower max_message in the server block",
					`"memory" must be at least the "max_message" of server %q, which is %s`,
					d.Name, language.SizeText(d.MaxMessage))
				break
			}
		}
	}
}

// gatewayName matches the names that a gateway may have.
var gatewayName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkRequestTimeout warns about timeouts of calls that request_timeout does not let pass.
func checkRequestTimeout(l *loader, g Gateway, drafts []*draft) {
	if g.RequestTimeout == 0 {
		return
	}
	var longer []string
	add := func(of string, timeout time.Duration) {
		if text := fmt.Sprintf("%s (%s)", of, language.ShortDuration(timeout)); timeout > g.RequestTimeout &&
			!slices.Contains(longer, text) {
			longer = append(longer, text)
		}
	}
	for _, d := range drafts {
		set := slices.ContainsFunc(d.written, func(s Setting) bool { return s.Name == "timeouts.call" })
		if set {
			add(fmt.Sprintf("timeouts { call } of server %q", d.Name), d.Timeouts.Call)
		}
	}
	for _, c := range g.Limits.Calls() {
		if c.Timeout.Limit > 0 {
			add("timeout in "+c.Timeout.Block, c.Timeout.Limit)
		}
	}
	if len(longer) > 0 {
		l.layers[0].empty("gateway").WarnAt(g.timeoutAt, "raise request_timeout, or lower the other",
			`"request_timeout" of %s ends calls before %s`, language.ShortDuration(g.RequestTimeout),
			strings.Join(longer, ", "))
	}
}
