package configure

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A writeTarget says which configuration a verb changes. Without a choice it is the one that
// is used here: that of the directory, or else the user's own.
type writeTarget struct {
	user bool   // the user's own
	here bool   // junctor.hcl in this directory
	file string // the user's own for one project; "": for all
}

// scopeLocal is the scope of one user in one project.
const scopeLocal = "local"

func (w *writeTarget) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.user, "user", false, "change the user's own configuration, which is used in every directory")
	cmd.Flags().BoolVar(&w.here, "here", false,
		"change "+config.FoundName+" in this directory, which is created if necessary")
	cmd.MarkFlagsMutuallyExclusive("user", "here")
}

// choose sets the target by the name of a scope; "" leaves it.
func (w *writeTarget) choose(scope string, lookup func(string) (string, bool)) error {
	switch scope {
	case "":
	case string(clientconfig.User):
		w.user = true
	case string(clientconfig.Project):
		at, err := config.Find("", lookup)
		w.here = err != nil || !at.Found // else the project has one, here or above
	case scopeLocal:
		at, err := config.Find("", lookup)
		if err != nil || !at.Found {
			return fault.New(fault.Usage, "there is no project with a %s here", config.FoundName).
				WithHint("write --scope user, or --scope project to begin one")
		}
		w.user, w.file = true, config.PrivatePath(at.Path, lookup)
	default:
		return fault.New(fault.Usage, "--scope %q is not a scope", scope).WithHint("write user, project or local")
	}
	return nil
}

// own returns the path of the user's own configuration.
func (w writeTarget) own(inv *invocation.Invocation) (string, error) {
	path := cmp.Or(w.file, config.OwnPath(inv.Lookup))
	if path == "" {
		return "", fault.New(fault.Usage, "this user has no home directory for a configuration").
			WithHint("name a file with --config")
	}
	return path, nil
}

// noteRelative says where relative paths of a new server begin, if that is not here.
func noteRelative(inv *invocation.Invocation, path string, s clientconfig.Server) {
	relative := func(word string) bool {
		return word == "." || word == ".." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
	}
	here, err := os.Getwd()
	if err == nil && filepath.Dir(path) != here && (s.Dir == "" || relative(s.Dir)) &&
		slices.ContainsFunc(slices.Concat(s.Command, []string{s.Dir}), relative) {
		inv.Warn(fmt.Sprintf("relative paths of %s begin at %s and not here", s.Name, filepath.Dir(path)),
			"write full paths, or add it with --here")
	}
}
