package tool

import (
	"errors"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// CheckBlocks returns every problem with tool blocks. The errors have paths
// that begin with tool[0] for the first block. command and dangerous are those of the
// transport.
func CheckBlocks(blocks []Block, command []string, dangerous ...string) error {
	var errs []error
	names := map[string]bool{}
	for i := range blocks {
		b, path := &blocks[i], BlockPath(i)
		switch {
		case !toolName.MatchString(b.Name):
			errs = append(errs,
				sdk.AttrErrorf(path+".name", "a tool's name has at most 64 letters, digits, dashes and underscores"))
		case names[b.Name]:
			errs = append(errs, sdk.AttrErrorf(path+".name", "there is another tool %q", b.Name))
		}
		names[b.Name] = true
		run := b.run()
		errs = append(errs, run.Check(path+".")...)
		t, problems := fromBlock(b, path)
		if errs = append(errs, problems...); len(problems) == 0 {
			errs = append(errs, b.check(t, command, dangerous, path)...)
		}
	}
	return errors.Join(errs...)
}

// check returns the problems of a tool block with its program. It is about a tool that has no
// other problems.
func (b *Block) check(t *Tool, command, dangerous []string, path string) []error {
	if b.Command != nil {
		command = b.Command
	}
	o := Options{Command: command, Dangerous: dangerous, Rules: danger.ForBlock(command, words(t.Template), "")}
	errs := checkExpressions(t, o.Rules, path)
	if len(errs) == 0 {
		t.restrict(&o, b)
		errs = checkPrograms(t, &o, path)
	}
	return errs
}

// FromBlock returns the tool of a block that passed CheckBlocks. The options are about
// the program of the block.
func FromBlock(b *Block, o Options) *Tool {
	t, _ := fromBlock(b, "")
	t.Block = b
	if o.Command != nil {
		o.Rules = danger.ForBlock(o.Command, words(t.Template), o.Executable)
	}
	t.restrict(&o, b)
	return t
}

// fromBlock returns the tool of a block and the problems with the block.
func fromBlock(b *Block, path string) (*Tool, []error) {
	c := &blockBuilder{path: path, t: &Tool{
		Name: b.Name, Description: sentence(oneLine(b.Description)), Idempotent: b.Idempotent,
		Stdin: b.Stdin, StdinRequired: b.StdinRequired, StdinAbout: oneLine(b.StdinDescription),
		Access:  Access{Kind: b.Access, From: "configuration"},
		Command: &model.Command{Summary: b.Description, Runnable: true, Source: "config", Confidence: 1},
	}}
	if b.StdinRequired && !b.Stdin {
		c.failf("stdin_required", "needs stdin = true beside it")
	}
	if b.StdinDescription != "" && !b.Stdin {
		c.failf("stdin_description", "needs stdin = true beside it")
	}
	if b.Description == "" {
		c.failf("description", "is empty; the model needs it to choose a tool")
	}
	c.arguments(b.Arguments)
	c.argv(b.Argv)
	c.slots()
	c.t.Template = placeOptions(c.t.Template)
	c.conflicts(b.Arguments)
	c.unless(b.Arguments)
	c.t.Description += exclusive(c.t.Conflicts)
	c.t.finish()
	return c.t, c.errs
}
