package verb

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// A singleValue is the value of a flag that may be given once. A second, different value is
// an error.
type singleValue struct {
	pflag.Value
	name  string
	given *string
}

// errTwice is the error for a flag with two values.
type errTwice struct{ name, first, second string }

func (e *errTwice) Error() string {
	return fmt.Sprintf("--%s is given twice, as %q and as %q", e.name, e.first, e.second)
}

func (v *singleValue) Set(text string) error {
	if v.given != nil && *v.given != text {
		return &errTwice{v.name, *v.given, text}
	}
	v.given = &text
	return v.Value.Set(text)
}

// SingleValues makes all flags of a command and its subcommands single values, except lists.
func SingleValues(cmd *cobra.Command) {
	once := func(f *pflag.Flag) {
		_, list := f.Value.(pflag.SliceValue)
		_, done := f.Value.(*singleValue)
		if !list && !done {
			f.Value = &singleValue{Value: f.Value, name: f.Name}
			if f.DefValue == "0s" {
				f.DefValue = "0" // the help omits this default for every type
			}
		}
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(once)
	cmd.PersistentFlags().VisitAll(once)
	for _, verb := range cmd.Commands() {
		SingleValues(verb)
	}
}

// FlagFault converts an error of the flag parser into a fault.
func FlagFault(cmd *cobra.Command, err error) error {
	if twice, ok := errors.AsType[*errTwice](err); ok {
		return fault.New(fault.Usage, "%s", twice).WithHint("keep one of them")
	}
	if cmd.HasSubCommands() {
		// Cobra reads flags before it looks at the verb: junctor mcp add --scope user.
		if unknown := TakesVerb(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	f := fault.New(fault.Usage, "%s", err)
	if hint := foreignFlag(pathOf(cmd), err); hint != "" {
		return f.WithHint("%s", hint)
	}
	return WithSuggestion(f, nearestFlag(cmd, err), helpOn(cmd))
}

// nearestFlag returns the flag that an unknown one may be, or "".
func nearestFlag(cmd *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if name := suggest.Nearest(unknown.GetSpecifiedName(), names); name != "" {
		return "--" + name
	}
	return ""
}
