package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// gatewayName matches the names that a gateway may have.
var gatewayName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkRequestTimeout warns about timeouts of calls that request_timeout does not let pass.
func checkRequestTimeout(l *loader, g Gateway, drafts []*draft) {
	if g.RequestTimeout == 0 {
		return
	}
	var longer []string
	add := func(of string, timeout time.Duration) {
		if text := fmt.Sprintf("%s (%s)", of, language.ShortDuration(timeout)); timeout > g.RequestTimeout && !slices.Contains(longer, text) {
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
		l.layers[0].empty("gateway").WarnAt(g.timeoutAt, "raise request_timeout, or lower the other", `"request_timeout" of %s ends calls before %s`, language.ShortDuration(g.RequestTimeout), strings.Join(longer, ", "))
	}
}
