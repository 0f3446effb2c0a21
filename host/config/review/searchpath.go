package review

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// searchPath returns the PATH of the program of a block: that of the block's env, else that of
// the defaults that a transport inherits, else Junctor's own. The variables that pass_env and
// the plugin's env name have the values of Junctor, PATH too.
func (o *outliner) searchPath(body *hclsyntax.Body) command.SearchPath {
	if p := setPath(body); p.Set {
		return p
	}
	if o.within != "" && o.transport != nil { // a tool has the variables of its transport
		if p := setPath(o.transport); p.Set {
			return p
		}
	}
	if o.inherits {
		var found command.SearchPath
		for _, s := range o.siblings() {
			for _, b := range s.Body.Blocks {
				p := command.SearchPath{}
				if b.Type == "defaults" {
					p = setPath(b.Body)
				}
				switch {
				case p.Set && found.Set:
					found.Known = false // two defaults blocks are an error
				case p.Set:
					found = p
				}
			}
		}
		if found.Set {
			return found
		}
	}
	list, _ := o.facts.Lookup("PATH")
	return command.SearchPath{List: list, Known: true}
}

// siblings returns the files of the module, or of the configuration, that the current block
// belongs to.
func (o *outliner) siblings() []*source.File {
	if dir := o.tree.ModuleOf(o.source); dir != "" {
		return o.tree.Modules[dir]
	}
	return slices.DeleteFunc(slices.Clone(o.tree.Files.All),
		func(s *source.File) bool { return o.tree.ModuleOf(s) != "" })
}

// setPath returns the PATH that the env of a block sets or may set.
func setPath(body *hclsyntax.Body) (p command.SearchPath) {
	env := body.Attributes["env"]
	if env == nil {
		return p
	}
	object, ok := language.Plain(env.Expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		return command.SearchPath{Set: true}
	}
	for _, item := range object.Items {
		name, ok := language.Literal(item.KeyExpr)
		if ok && !strings.EqualFold(name, "PATH") {
			continue
		}
		value, known := language.Literal(item.ValueExpr)
		p = command.SearchPath{List: value, Set: true, Known: known && ok && name == "PATH" && !p.Set}
	}
	return p
}
