package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/verb"
)

// A shellScript describes the completion script of one shell and the line in it that
// evaluates the typed command line.
type shellScript struct {
	generate func(root *cobra.Command, out *bytes.Buffer, describe bool) error
	evaluate string // one line of the script
	guarded  string // replaces evaluate; %s is evaluate
	words    string // a line that finds the words typed so far; empty: it stays
	split    string // replaces words; %s is words
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
		words:    `    _get_comp_words_by_ref "$@" cur prev words cword`,
		split:    bashWords,
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

// bashWords finds the words up to the cursor where the package bash-completion is not installed.
// Bash splits words at = and :, which are parts of arguments and URIs here.
const bashWords = `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    %s
        return
    fi
    local line="${COMP_LINE:0:COMP_POINT}" rest piece last="" i
    words=() cword=-1
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece="${COMP_WORDS[i]}"
        rest="${line#"${line%%[![:space:]]*}"}"
        if [[ $rest != "$piece"* ]]; then
            piece="$rest" # the cursor is within the word
        fi
        if ((cword >= 0)) && [[ $rest == "$line" && ( $piece =~ ^[=:]+$ || $last =~ ^[=:]+$ ) ]]; then
            words[cword]+="$piece"
        else
            cword=$((cword + 1))
            words[cword]="$piece"
        fi
        line="${rest#"$piece"}"
        last="$piece"
    done
    cur="${words[cword]}" prev=""
    if ((cword > 0)); then
        prev="${words[cword-1]}"
    fi`

// bashFiles completes files where the package bash-completion is not installed.
const bashFiles = `
__junctor_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    local name kind=-f
    if [[ ${1-} == -d ]]; then
        kind=-d
    fi
    while IFS= read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen "$kind" -- "$cur")
}
`

// write writes the script to out.
func (s shellScript) write(root *cobra.Command, out *bytes.Buffer, describe bool) error {
	var script bytes.Buffer
	if err := s.generate(root, &script, describe); err != nil {
		return err
	}
	text, err := replaceLine(script.String(), s.evaluate, s.guarded)
	if err == nil && s.words != "" {
		text, err = replaceLine(strings.ReplaceAll(text, "_filedir", "__junctor_filedir")+bashFiles, s.words, s.split)
	}
	out.WriteString(text)
	return err
}

// replaceLine replaces a line of a script. %s in by is the line.
func replaceLine(script, line, by string) (string, error) {
	before, after, found := strings.Cut(script, line+"\n")
	if !found {
		return "", fmt.Errorf("the generated completion script has no line %q", strings.TrimSpace(line))
	}
	return before + strings.Replace(by, "%s", line, 1) + "\n" + after, nil
}

// bashAlone replaces the paragraph bashNeeds of Cobra's help, which is not true of bashWords.
const bashAlone = `Without the package bash-completion, put the line for the current session into ~/.bashrc.

`

const bashNeeds = `This script depends on the 'bash-completion' package.
If it is not installed already, you can install it via your OS's package manager.

`

// withCompletion adds the verb that Cobra has for completion. It knows its
// shells, but takes any word for one that it should explain itself to.
func withCompletion(root *cobra.Command) *cobra.Command {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = verb.TakesVerb
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		verb.SingleValues(c)
		for _, shell := range c.Commands() {
			script, known := shellScripts[shell.Name()]
			if !known {
				continue
			}
			if shell.Name() == "bash" {
				shell.Long = strings.Replace(shell.Long, bashNeeds, bashAlone, 1)
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
