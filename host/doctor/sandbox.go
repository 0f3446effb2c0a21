package doctor

import (
	"context"
	"fmt"
	"slices"

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
			Message: fmt.Sprintf("wrapped programs are not confined by the kernel, which lacks %s; only the rules for their arguments hold",
				missing),
			Remedy: "use Linux 6.2 or newer with Landlock among the modules in /sys/kernel/security/lsm, or wrap only programs that you would let a model run freely",
		}}
	}}
}

// Shared returns a check of servers that load code of a directory which a tool of another one, a
// wrapped program, may change. What the command names itself, and packages in node_modules,
// cannot be changed.
func Shared(all []Program) Check {
	return Check{"sandbox", func(context.Context) (found []Finding) {
		for _, p := range all {
			where := "outside of the sandbox"
			if p.Changeable != nil {
				where = fmt.Sprintf("with the secrets and the sandbox of %q", p.Server)
			}
			for _, other := range all {
				i := slices.IndexFunc(p.CodeDirs, other.mayChange)
				if other.Server == p.Server || i < 0 {
					continue
				}
				found = append(found, Finding{
					Severity: Warning, Server: p.Server, At: p.At,
					Message: fmt.Sprintf("%s loads code from %s, and tools of the server %q may change that directory: they decide what runs %s",
						p.Loader, p.CodeDirs[i], other.Server, where),
					Remedy: fmt.Sprintf(
						"set `cwd` of one of the two to a directory outside of the other's, or move what %q runs",
						p.Server,
					),
				})
				break
			}
		}
		return found
	}}
}

// mayChange reports whether tools of the server may change what is in a directory.
func (p Program) mayChange(dir string) bool {
	return slices.ContainsFunc(p.Changeable,
		func(c string) bool { c = sandbox.Resolve(c); return dir == c || sandbox.Within(dir, c) })
}
