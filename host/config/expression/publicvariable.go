package expression

import (
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// publicVariables are environment variables with directories of the user, which messages of
// programs repeat all the time.
var publicVariables = []string{
	"HOME", "USERPROFILE", "PWD", "TMPDIR", "TMP", "TEMP", "APPDATA", "LOCALAPPDATA", "ProgramFiles", "SystemRoot",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
}

// isPublic reports whether the value of a variable is the path of a directory that is no
// secret.
func isPublic(name, value string) bool {
	return slices.Contains(publicVariables, name) && filepath.IsAbs(value)
}

// WithoutPublic removes the values of public variables from secrets. A setting whose values
// are secret, such as env, may have them.
func (ev *Evaluator) WithoutPublic(secrets []string) []string {
	var public []string
	for _, name := range publicVariables {
		if value, set := ev.inputs.Lookup(name); set && isPublic(name, value) {
			public = append(public, value)
		}
	}
	return slices.DeleteFunc(slices.Clone(secrets), func(text string) bool { return slices.Contains(public, text) })
}

// ConcealEnv adds the values of all variables that calls of env() name
// literally. Not all calls are evaluated: not those in wrong and disabled blocks, nor
// in blocks of a plugin without a manifest. A plugin may know the variable all the
// same, and print it.
func (ev *Evaluator) ConcealEnv() {
	for _, s := range ev.Files.All {
		_ = hclsyntax.VisitAll(s.Body, func(n hclsyntax.Node) hcl.Diagnostics {
			call, ok := n.(*hclsyntax.FunctionCallExpr)
			if !ok || call.Name != "env" || len(call.Args) == 0 {
				return nil
			}
			name, ok := language.Literal(call.Args[0])
			if text, set := ev.inputs.Lookup(name); ok && set && !isPublic(name, text) {
				ev.Files.Conceal(text)
			}
			return nil
		})
	}
}
