// Package processes finds the running processes of this user that serve a configuration, for the
// verbs that ask them over their control sockets.
package processes

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// Flag adds the flag that chooses a running process.
func Flag(inv *invocation.Invocation, cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "instance", "", "ask the running process with this `PID`, whatever its configuration")
	_ = cmd.RegisterFlagCompletionFunc("instance",
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if inv.FindDirs() == nil {
				for _, i := range control.Find(inv.Dirs.Runs) {
					names = append(names, i.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		})
}

// Find returns the processes that use the configuration of this verb: all processes if
// there is no configuration. With an instance it returns that process. Processes that do not answer
// are reported, and returned as failed.
func Find(ctx context.Context, inv *invocation.Invocation, instance string) (
	found []control.Answer, failed []error, err error,
) {
	if err := inv.FindDirs(); err != nil {
		return nil, nil, err
	}
	all := control.Find(inv.Dirs.Runs)
	if instance != "" {
		found, err = findInstance(ctx, all, instance)
		return found, nil, err
	}
	matches, err := Matches(inv)
	if err != nil {
		return nil, nil, err
	}
	found, failed = control.StatusOfAll(ctx, all)
	for _, err := range failed {
		inv.Warn(err.Error(), fault.As(err).Hint)
	}
	return slices.DeleteFunc(found, func(a control.Answer) bool { return !matches(a.Status) }), failed, nil
}

// One returns the only process that uses the configuration of this verb, or the one
// with the name instance, its process id. It fails if there is none, or more than one. A process
// that does not answer was reported by Find.
func One(ctx context.Context, inv *invocation.Invocation, instance string) (control.Answer, error) {
	found, failed, err := Find(ctx, inv, instance)
	switch {
	case err != nil:
		return control.Answer{}, err
	case len(found) == 0 && len(failed) > 0:
		return control.Answer{}, terminal.Reported(failed[0])
	case len(found) == 0:
		return control.Answer{}, fault.New(fault.ProcessMissing, "no running process serves this configuration").
			WithHint("start one with `junctor serve`; one that serves another file is named with --config FILE, or with --instance, as `junctor status` lists them")
	case len(found) > 1:
		return control.Answer{}, fault.New(fault.ProcessAmbiguous, "%d running processes match", len(found)).
			WithHint("%s", Hint(found))
	}
	return found[0], nil
}

// findInstance returns the process with a name, its process id. Processes in different containers may
// have the same one.
func findInstance(ctx context.Context, all []*control.Instance, name string) ([]control.Answer, error) {
	var named []*control.Instance
	for _, i := range all {
		if i.Is(name) {
			named = append(named, i)
		}
	}
	answered, failed := control.StatusOfAll(ctx, named)
	switch {
	case len(answered) == 1:
		return answered, nil
	case len(answered) > 1:
		return nil, fault.New(fault.ProcessAmbiguous, "%d running processes have the id %s, in different containers",
			len(answered), name).
			WithHint("%s", Hint(answered))
	case len(failed) > 0:
		return nil, failed[0]
	}
	others, _ := control.StatusOfAll(ctx, all)
	return nil, fault.New(fault.ProcessMissing, "no running process is %q", name).WithHint("%s", Hint(others))
}

// Matches returns a function that reports whether a process uses the configuration
// of this verb. Every process does if there is no configuration.
func Matches(inv *invocation.Invocation) (func(*control.Status) bool, error) {
	at, err := config.Find(inv.ConfigPath(), inv.Lookup)
	if fault.Is(err, fault.ConfigMissing) && inv.ConfigPath() == "" {
		return func(*control.Status) bool { return true }, nil
	}
	if err != nil {
		return nil, err
	}
	own := RealPath(at.Path)
	return func(s *control.Status) bool {
		// A process reports the path as it was given if its working directory was removed.
		return filepath.IsAbs(s.Generation.Path) && RealPath(s.Generation.Path) == own
	}, nil
}

// RealPath returns the absolute path of a file without symbolic links. If the file is
// gone, only its directory counts.
func RealPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// Hint lists processes for the hint of an error.
func Hint(all []control.Answer) string {
	if len(all) == 0 {
		return "start one with `junctor serve`"
	}
	var texts []string
	for _, a := range all {
		texts = append(texts, fmt.Sprintf("%s (%s, %s)", a.Name, a.Status.Transport, a.Status.Generation.Path))
	}
	return "running: " + strings.Join(texts, ", ") + "; choose with --instance"
}

// CheckNames returns an error for the first of names that is no server of a process. With plugins,
// a name may be one of its plugins, too.
func CheckNames(st *control.Status, names []string, plugins bool) error {
	var known []string
	for _, s := range st.Servers {
		known = append(known, s.Server)
	}
	if plugins {
		for _, p := range st.Plugins {
			known = append(known, p.Plugin)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return verb.WithSuggestion(fault.New(fault.UpstreamUnknown, "process %s has no server %q",
				st.Instance, name), suggest.Nearest(name, known), "junctor status lists them")
		}
	}
	return nil
}
