package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A searchPath is the value of PATH in which a program is found by its name.
type searchPath struct {
	list  string
	set   bool // by the configuration; else it is Junctor's own
	known bool // list is the value
}

// searchPath returns the PATH of the program of a block: that of the block's env, else that of
// the defaults that a transport inherits, else Junctor's own. The variables that pass_env and
// the plugin's env name have the values of Junctor, PATH too.
func (o *outliner) searchPath(body *hclsyntax.Body) searchPath {
	if p := setPath(body); p.set {
		return p
	}
	if o.within != "" && o.transport != nil { // a tool has the variables of its transport
		if p := setPath(o.transport); p.set {
			return p
		}
	}
	if o.inherits {
		var found searchPath
		for _, s := range o.siblings() {
			for _, b := range s.Body.Blocks {
				p := searchPath{}
				if b.Type == "defaults" {
					p = setPath(b.Body)
				}
				switch {
				case p.set && found.set:
					found.known = false // two defaults blocks are an error
				case p.set:
					found = p
				}
			}
		}
		if found.set {
			return found
		}
	}
	list, _ := o.lookup("PATH")
	return searchPath{list: list, known: true}
}

// siblings returns the files of the module, or of the configuration, that the current block
// belongs to.
func (o *outliner) siblings() []*source.File {
	if dir := o.tree.ModuleOf(o.source); dir != "" {
		return o.tree.Modules[dir]
	}
	return slices.DeleteFunc(slices.Clone(o.tree.Files.All), func(s *source.File) bool { return o.tree.ModuleOf(s) != "" })
}

// setPath returns the PATH that the env of a block sets or may set.
func setPath(body *hclsyntax.Body) (p searchPath) {
	env := body.Attributes["env"]
	if env == nil {
		return p
	}
	object, ok := language.Plain(env.Expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		return searchPath{set: true}
	}
	for _, item := range object.Items {
		name, ok := language.Literal(item.KeyExpr)
		if ok && !strings.EqualFold(name, "PATH") {
			continue
		}
		value, known := language.Literal(item.ValueExpr)
		p = searchPath{list: value, set: true, known: known && ok && name == "PATH" && !p.set}
	}
	return p
}

// find returns the path of a program, or its name with a note about where it is looked for.
// As in the plugins, directories that are not absolute do not count.
func (p searchPath) find(name string) string {
	if !p.known {
		return name + " (from the PATH that is set)"
	}
	for _, dir := range filepath.SplitList(p.list) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	if p.set {
		return name + " (not found in the PATH that is set)"
	}
	return name + " (not found)"
}
