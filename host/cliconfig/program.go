// Package cliconfig turns what the cli plugin found out about a program into HCL for
// people to review and keep, and says what has changed since they did.
package cliconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/tokens"
)

// ModelMeta is the name in _meta under which the cli plugin tells what its tools
// were made from, when it is asked to.
const ModelMeta = "junctor/model"

// Question is the params of a tools/list that asks for that.
var Question = []byte(`{"_meta":{"` + ModelMeta + `":true}}`)

// A Program is what is known about a program.
type Program struct {
	Name       string   `json:"program"`
	Version    string   `json:"version,omitempty"`
	Digest     string   `json:"digest,omitempty"` // hex sha256
	Incomplete []string `json:"incomplete,omitempty"`
	Short      bool     `json:"short,omitempty"`   // there may be more, for which there was no time
	Failure    string   `json:"failure,omitempty"` // how the program failed when it was asked for help
	Tools      []Tool   `json:"tools"`
	// Dangerous are commands that are left out.
	Dangerous []Finding `json:"dangerous,omitempty"`
}

// A Tool is one command of the program, and the tool block that offers it.
type Tool struct {
	Name       string          `json:"name"`
	Command    Command         `json:"command"`
	AccessFrom string          `json:"access_from,omitempty"`
	LeftOut    []string        `json:"left_out,omitempty"` // options that the block does not have
	Tokens     int             `json:"tokens,omitempty"`   // about so many are what a model is shown of it
	Block      json.RawMessage `json:"block"`
	Dangerous  []Finding       `json:"dangerous,omitempty"`         // options that are left out
	Offered    []Finding       `json:"offered_dangerous,omitempty"` // and those that are not
	DataCodes  []int           `json:"data_codes,omitempty"`        // exit codes that are an answer
	Ordered    bool            `json:"ordered,omitempty"`           // has an expression, which is not offered
	Tried      string          `json:"tried,omitempty"`             // what came of running it once
}

// A Command is what a tool was made from, as far as it matters here.
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
	// Inherited is true for an option of the whole program, or a command above.
	Inherited bool `json:"inherited,omitempty"`
	Value     struct {
		Kind     string   `json:"kind"`
		Choices  []string `json:"choices,omitempty"`
		Optional bool     `json:"optional,omitempty"`
	} `json:"value"`
}

func (o *Option) takesValue() bool { return o.Value.Kind != "bool" && o.Value.Kind != "count" }

// Read reads the result of a tools/list that was asked with [Question]. complete
// is false while the plugin is still finding out.
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
		return p, false, fmt.Errorf("the plugin's list of tools has an unexpected shape: %w", err)
	}
	if list.Meta.Model == nil {
		return p, false, nil
	}
	p = *list.Meta.Model
	p.Tools = []Tool{}
	for _, t := range list.Tools {
		if m := t.Meta.Model; m != nil && m.Block != nil {
			m.Name = t.Name
			m.Tokens = tokens.Estimate(len(t.Name) + len(t.Description) + len(t.Input))
			p.Tools = append(p.Tools, *m)
		}
	}
	return p, true, nil
}

// Costly says that the tools cost a model much; empty: they do not.
func (p *Program) Costly() string {
	all, much := 0, 0
	for _, t := range p.Tools {
		all += t.Tokens
		if t.Tokens > tokens.MuchTool {
			much++
		}
	}
	switch {
	case all > tokens.MuchServer:
		return fmt.Sprintf("these tools take about %d tokens of a model's context (%d of them more than %d each)", all, much, tokens.MuchTool)
	case much > 0:
		return fmt.Sprintf("tools take more than %d tokens of a model's context: %d", tokens.MuchTool, much)
	}
	return ""
}

// find returns the command that an argument list begins with: the one with the
// most words. nil where there is none.
func (p *Program) find(words []string) *Tool {
	var best *Tool
	for i := range p.Tools {
		c := &p.Tools[i].Command
		if len(c.Path) <= len(words) && slices.Equal(c.Path, words[:len(c.Path)]) && (best == nil || len(c.Path) > len(best.Command.Path)) {
			best = &p.Tools[i]
		}
	}
	return best
}

// offers says which options the tool's block has. Those that are of no use to a
// model, or that cannot be expressed, are known but not in it.
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

// known reports whether the command explained itself, and does not only stand in
// a list.
func (c *Command) known() bool { return c.Source != "list" && c.Source != "none" }

// option returns the option of a spelling, nil where there is none. One that is
// called so comes before one that says no in this way.
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

// words are the elements of an argument list that can be the name of a command.
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
