// Package cliconfig writes HCL for a program that the cli plugin has inspected, for users to
// review and keep. It also compares such HCL with the current program.
//
// program.go reads what the plugin found, write.go writes the blocks, danger.go and sandbox.go
// their comments. compare.go is for wrap --check, try.go and trial.go for wrap --try. Only the verb
// wrap uses the package. Its functions keep no state; values are for one goroutine. The members of
// the model are those of package model of the cli plugin, in any version of it.
package cliconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/tokencount"
)

// ModelMeta is the name in _meta of the cli plugin's description of a program. The plugin
// sends it on request only.
const ModelMeta = "junctor/model"

// Question are the params of a tools/list request for the description.
var Question = []byte(`{"_meta":{"` + ModelMeta + `":true}}`)

// A Program is the description of a program.
type Program struct {
	Name       string   `json:"program"`
	Version    string   `json:"version,omitempty"`
	Digest     string   `json:"digest,omitempty"` // hex sha256
	Incomplete []string `json:"incomplete,omitempty"`
	Short      bool     `json:"short,omitempty"`   // the inspection ran out of time
	Failure    string   `json:"failure,omitempty"` // how the program failed when asked for help
	Tools      []Tool   `json:"tools"`
	// Dangerous are commands that have no tool.
	Dangerous []Finding `json:"dangerous,omitempty"`
	// Sandbox says what the program may reach, in lines for a comment.
	Sandbox []string `json:"sandbox,omitempty"`
}

// A Tool is one command of the program with its tool block.
type Tool struct {
	Name       string   `json:"name"`
	Command    Command  `json:"command"`
	AccessFrom string   `json:"access_from,omitempty"`
	LeftOut    []string `json:"left_out,omitempty"` // options that are not in the block
	// Options for files that the program writes, below its directory.
	Written   []string        `json:"written,omitempty"`
	Outer     []string        `json:"outer,omitempty"`  // options of the whole program that are not in the block
	Tokens    int             `json:"tokens,omitempty"` // estimated tokens of the tool in a model's context
	Block     json.RawMessage `json:"block"`
	Dangerous []Finding       `json:"dangerous,omitempty"`         // dangerous options that are not in the block
	Offered   []Finding       `json:"offered_dangerous,omitempty"` // dangerous options that are in the block
	DataCodes []int           `json:"data_codes,omitempty"`        // exit codes that are a result and no error
	Ordered   bool            `json:"ordered,omitempty"`           // has an expression, which the block does not offer
	Tried     *Trial          `json:"tried,omitempty"`             // nil if it was not asked for
}

// A Command is the part of a command's description that is used here.
type Command struct {
	Path       []string `json:"path"`
	Options    []Option `json:"options,omitempty"`
	Source     string   `json:"source,omitempty"`
	Confidence float64  `json:"confidence"`
	Unparsed   []string `json:"unparsed,omitempty"`
}

// An Option is one option of a command.
type Option struct {
	Names    []string `json:"names"`
	Negation string   `json:"negation,omitempty"`
	Required bool     `json:"required,omitempty"`
	// Inherited is set for options of the program or of a parent command.
	Inherited bool `json:"inherited,omitempty"`
	Value     struct {
		Kind     string   `json:"kind"`
		Choices  []string `json:"choices,omitempty"`
		Optional bool     `json:"optional,omitempty"`
	} `json:"value"`
}

func (o *Option) takesValue() bool { return o.Value.Kind != "bool" && o.Value.Kind != "count" }

// Read reads the result of a tools/list request with [Question]. complete is false while the
// plugin is still inspecting the program.
func Read(result []byte) (p Program, complete bool, err error) {
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Input       json.RawMessage `json:"inputSchema"`
			Meta        struct {
				Model *Tool `json:"junctor/model"`
			} `json:"_meta"`
		} `json:"tools"`
		Meta struct {
			Model *Program `json:"junctor/model"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(result, &list); err != nil {
		return p, false, fmt.Errorf("the plugin's list of tools has an unexpected form: %w", err)
	}
	if list.Meta.Model == nil {
		return p, false, nil
	}
	p = *list.Meta.Model
	p.Tools = []Tool{}
	for _, t := range list.Tools {
		if m := t.Meta.Model; m != nil && m.Block != nil {
			m.Name = t.Name
			m.Tokens = tokencount.Estimate(len(t.Name) + len(t.Description) + len(t.Input))
			p.Tools = append(p.Tools, *m)
		}
	}
	return p, true, nil
}

// Costly returns a warning if the tools use many tokens, or "".
func (p *Program) Costly() string {
	all, much := 0, 0
	for _, t := range p.Tools {
		all += t.Tokens
		if t.Tokens > tokencount.MuchTool {
			much++
		}
	}
	switch {
	case all > tokencount.MuchServer:
		return fmt.Sprintf("these tools take about %d tokens of a model's context (%d of them more than %d each)",
			all, much, tokencount.MuchTool)
	case much > 0:
		return fmt.Sprintf("tools take more than %d tokens of a model's context: %d", tokencount.MuchTool, much)
	}
	return ""
}

// find returns the tool whose command is the longest prefix of words, or nil.
func (p *Program) find(words []string) *Tool {
	var best *Tool
	for i := range p.Tools {
		c := &p.Tools[i].Command
		if len(c.Path) <= len(words) && slices.Equal(c.Path, words[:len(c.Path)]) &&
			(best == nil || len(c.Path) > len(best.Command.Path)) {
			best = &p.Tools[i]
		}
	}
	return best
}

// offers returns a function that reports whether the tool's block has an option. The block
// omits options that are useless to a model or cannot be expressed.
func (t *Tool) offers() func(*Option) bool {
	var fresh block
	if json.Unmarshal(t.Block, &fresh) != nil {
		return func(*Option) bool { return true }
	}
	flags := map[string]bool{}
	for _, a := range fresh.Arguments {
		flags[a.Flag] = true
	}
	return func(o *Option) bool {
		return slices.ContainsFunc(o.Names, func(name string) bool { return flags[name] })
	}
}

// known reports whether the command's own help was read, and not only a list of commands.
func (c *Command) known() bool { return c.Source != "list" && c.Source != "none" }

// option returns the option with a name, or nil. Names of options take precedence over
// negations.
func (c *Command) option(spelling string) *Option {
	var no *Option
	for i := range c.Options {
		o := &c.Options[i]
		if slices.Contains(o.Names, spelling) {
			return o
		}
		if o.Negation == spelling {
			no = o
		}
	}
	return no
}

// words returns the first elements of an argument list that may be names of commands.
func words(argv []string) []string {
	for i, e := range argv {
		if strings.HasPrefix(e, "-") || strings.Contains(strings.ReplaceAll(e, `\{`, ""), "{") {
			argv = argv[:i]
			break
		}
	}
	list := []string{}
	for _, e := range argv {
		list = append(list, strings.ReplaceAll(e, `\{`, "{"))
	}
	return list
}
