package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A singleValue is the value of a flag that is given at most once: a second,
// different one is an error instead of replacing the first.
type singleValue struct {
	pflag.Value
	name  string
	given *string
}

// errTwice is a flag that has two values.
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

// singleValues makes every flag of a command and of its verbs one that is given
// once, apart from lists.
func singleValues(cmd *cobra.Command) {
	once := func(f *pflag.Flag) {
		_, list := f.Value.(pflag.SliceValue)
		_, done := f.Value.(*singleValue)
		if !list && !done {
			f.Value = &singleValue{Value: f.Value, name: f.Name}
			if f.DefValue == "0s" {
				f.DefValue = "0" // which the help takes for no default, whatever the type
			}
		}
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(once)
	cmd.PersistentFlags().VisitAll(once)
	for _, verb := range cmd.Commands() {
		singleValues(verb)
	}
}

// flagFault is the fault of flags that cannot be understood.
func flagFault(cmd *cobra.Command, err error) error {
	if twice, ok := errors.AsType[*errTwice](err); ok {
		return fault.New(fault.Usage, "%s", twice).WithHint("keep one of them")
	}
	return fault.New(fault.Usage, "%s", err).WithHint("%s", helpOn(cmd))
}
