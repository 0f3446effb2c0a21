package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
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

// Shared returns a check of servers outside of the sandbox that load code of a directory which
// a tool of a wrapped program may change. What the command names itself, and packages in
// node_modules, cannot be changed.
func Shared(all []Program) Check {
	return Check{"sandbox", func(context.Context) (found []Finding) {
		for _, p := range all {
			what, dir := looksIn(p)
			if p.Changeable != nil || dir == "" {
				continue
			}
			for _, other := range all {
				if !slices.ContainsFunc(other.Changeable, func(c string) bool { c = sandbox.Resolve(c); return dir == c || sandbox.Within(dir, c) }) {
					continue
				}
				found = append(found, Finding{
					Severity: Warning, Server: p.Server, At: p.At,
					Message: fmt.Sprintf("%s in %s, and tools of the server %q may change that directory: they decide what runs outside of the sandbox", what, dir, other.Server),
					Remedy:  fmt.Sprintf("set `cwd` of one of the two to a directory outside of the other's, or move what %q runs", p.Server),
				})
				break
			}
		}
		return found
	}}
}

var (
	runners      = lazyregexp.New(`^(?:npm|pnpm|yarn|uv|make|just|task|go|cargo)$`)
	interpreters = lazyregexp.New(`^(?:node|bun|deno|tsx|ts-node|ruby|(?:python|pypy|perl|php)[0-9.]*)$`)
)

// looksIn says what looks for code beside what the command names, and where.
func looksIn(p Program) (what, dir string) {
	if len(p.Command) == 0 {
		return "", ""
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(p.Command[0])), ".exe")
	at := func(word string) string {
		if !filepath.IsAbs(word) {
			word = filepath.Join(p.Dir, word)
		}
		return sandbox.Resolve(word)
	}
	switch {
	case runners.MatchString(name):
		return name + " runs what it finds", at("")
	case !interpreters.MatchString(name):
		return "", ""
	}
	if i := slices.Index(p.Command, "-m"); i > 0 && i+1 < len(p.Command) {
		module, _, _ := strings.Cut(p.Command[i+1], ".")
		if exists(at(module)) || exists(at(module+".py")) {
			return name + " loads modules", at("")
		}
		return "", ""
	}
	for _, word := range p.Command[1:] {
		if !strings.HasPrefix(word, "-") {
			return name + " loads modules", filepath.Dir(at(word))
		}
	}
	return "", ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
