package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// A shellScript describes the completion script of one shell and the line in it that
// evaluates the typed command line.
type shellScript struct {
	generate func(root *cobra.Command, out *bytes.Buffer, describe bool) error
	evaluate string // one line of the script
	guarded  string // replaces evaluate; %s is evaluate
}

// Completion must run only "junctor __complete". Cobra's scripts evaluate the words of the
// command line. That expands ~ and $HOME, but also runs $(...) and truncates files after >.
// The changed scripts do not complete such lines: ":1" is Cobra's directive for an error.
//
// Bash and Zsh split the line at unquoted ; | and &. In fish and PowerShell a quoted one
// would be evaluated without its quotes.
var shellScripts = map[string]shellScript{
	"bash": {
		generate: func(root *cobra.Command, out *bytes.Buffer, describe bool) error {
			return root.GenBashCompletionV2(out, describe)
		},
		evaluate: `    out=$(eval "${requestComp}" 2>/dev/null)`,
		guarded:  posixGuard,
	},
	"zsh": {
		generate: func(root *cobra.Command, out *bytes.Buffer, describe bool) error {
			if describe {
				return root.GenZshCompletion(out)
			}
			return root.GenZshCompletionNoDesc(out)
		},
		evaluate: `    out=$(eval ${requestComp} 2>/dev/null)`,
		guarded:  posixGuard,
	},
	"fish": {
		generate: func(root *cobra.Command, out *bytes.Buffer, describe bool) error {
			return root.GenFishCompletion(out, describe)
		},
		evaluate: `    set -l results (eval $requestComp 2> /dev/null)`,
		guarded: `    set -l results ":1"
    if not string match -qr '[;&|<>()\x60\n]' -- $args
        set results (eval $requestComp 2> /dev/null)
    end`,
	},
	"powershell": {
		generate: func(root *cobra.Command, out *bytes.Buffer, describe bool) error {
			if describe {
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return root.GenPowerShellCompletion(out)
		},
		evaluate: `    Invoke-Expression -OutVariable out "$RequestComp" 2>&1 | Out-Null`,
		guarded: `    if ($RequestComp -match '[;&|<>()\n]') { return }
%s`,
	},
}

const posixGuard = "    case ${requestComp} in\n" +
	"    *[\\`\\(\\<\\>]* | *'${'* | *'$['*) out=\":1\" ;;\n" +
	"    *)\n" +
	"    %s ;;\n" +
	"    esac"

// write writes the script to out.
func (s shellScript) write(root *cobra.Command, out *bytes.Buffer, describe bool) error {
	var script bytes.Buffer
	if err := s.generate(root, &script, describe); err != nil {
		return err
	}
	before, after, found := strings.Cut(script.String(), s.evaluate+"\n")
	if !found {
		return fmt.Errorf("the generated completion script has no line %q", strings.TrimSpace(s.evaluate))
	}
	guarded := s.guarded
	if strings.Contains(guarded, "%s") {
		guarded = fmt.Sprintf(guarded, s.evaluate)
	}
	out.WriteString(before)
	out.WriteString(guarded)
	out.WriteByte('\n')
	out.WriteString(after)
	return nil
}

// withCompletion adds the verb that Cobra has for completion. It knows its
// shells, but takes any word for one that it should explain itself to.
func withCompletion(root *cobra.Command) *cobra.Command {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = takesVerb
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range c.Commands() {
			script, known := shellScripts[shell.Name()]
			if !known {
				continue
			}
			shell.RunE = func(cmd *cobra.Command, _ []string) error {
				bare, err := cmd.Flags().GetBool("no-descriptions")
				if err != nil {
					return err
				}
				var text bytes.Buffer
				if err := script.write(cmd.Root(), &text, !bare); err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(text.Bytes())
				return err
			}
		}
	}
	return root
}
