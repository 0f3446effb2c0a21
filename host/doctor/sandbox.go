package doctor

import (
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// Sandbox returns a check of what this kernel can enforce for wrapped programs, of
// which there are a number of servers.
func Sandbox(support sandbox.Support, wrapped int) Check {
	return Check{"sandbox", func(context.Context) []Finding {
		missing := support.Missing(&sandbox.Rules{})
		if wrapped == 0 || missing == "" {
			return nil
		}
		return []Finding{{
			Severity: Warning,
			Message:  fmt.Sprintf("wrapped programs are not confined by the kernel, which lacks %s; only the rules for their arguments hold", missing),
			Remedy:   "use Linux 6.2 or newer with Landlock among the modules in /sys/kernel/security/lsm, or wrap only programs that you would let a model run freely",
		}}
	}}
}
