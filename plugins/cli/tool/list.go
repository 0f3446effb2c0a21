package tool

import (
	"encoding/json"
	"reflect"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// ModelMeta is the name in _meta that requests the model behind the tools, and
// under which the list and each tool return it.
const ModelMeta = "junctor/model"

// AccessMeta is the name in _meta of a tool whose access the configuration says: read,
// write or destructive. The host trusts it as it does tools { read, write }.
const AccessMeta = "junctor/access"

// output is the schema of the structured result. It has no descriptions,
// because the list repeats it for each tool; the plugin's README describes the
// members.
var output = json.RawMessage(`{"type":"object","properties":{` +
	`"exit_code":{"type":"integer"},"stdout":{"type":"string"},"stderr":{"type":"string"},"duration_ms":{"type":"integer"},` +
	`"truncated":{"type":"boolean"},"json":{},"lines":{"type":"array"},"stdout_base64":{"type":"string"}},` +
	`"required":["exit_code","stdout","stderr","duration_ms","truncated"]}`)

// JSON returns the tool for tools/list. withModel adds the model under
// ModelMeta.
func (t *Tool) JSON(withModel bool) json.RawMessage {
	var o object
	o.set("name", t.Name)
	o.set("description", t.Description)
	o.set("inputSchema", t.Input)
	o.set("outputSchema", output)
	o.set("annotations", t.annotations())
	var meta object
	if t.Access.From == "configuration" {
		meta.set(AccessMeta, t.Access.Kind)
		if !withModel {
			o.set("_meta", meta)
		}
	}
	if withModel {
		var m object
		command := *t.Command
		command.Commands = nil // sub-commands have their own tools
		command.Path = append([]string{}, command.Path...)
		m.set("command", command)
		m.set("access", t.Access.Kind)
		m.set("access_from", t.Access.From)
		if len(t.LeftOut) > 0 {
			m.set("left_out", t.LeftOut)
		}
		if len(t.Written) > 0 {
			m.set("written", t.Written)
		}
		if len(t.Outer) > 0 {
			m.set("outer", t.Outer)
		}
		for _, more := range []struct {
			name string
			list []finding
		}{{"dangerous", findings(t.Unsafe)}, {"offered_dangerous", findings(t.Admitted)}} {
			if len(more.list) > 0 {
				m.set(more.name, more.list)
			}
		}
		if t.Ordered {
			m.set("ordered", true)
		}
		if len(t.DataCodes) > 0 {
			m.set("data_codes", t.DataCodes)
		}
		if t.Template == nil {
			m.set("block", settings(reflect.ValueOf(Record(t))))
		}
		meta.set(ModelMeta, m)
		o.set("_meta", meta)
	}
	return render(o)
}

// A finding is a danger.Finding in ModelMeta.
type finding struct {
	Names   []string `json:"names,omitempty"`
	Command []string `json:"command,omitempty"`
	Does    string   `json:"does"`
}

func findings(all []danger.Finding) []finding {
	var list []finding
	for _, f := range all {
		list = append(list, finding{Names: f.Names, Command: f.Command, Does: f.Effect.String()})
	}
	return list
}

// Groups returns the ModelMeta of a whole list: the program, the commands that
// are not tools, and the commands that are left out because they are dangerous.
func Groups(p *model.Program, skipped []danger.Finding) json.RawMessage {
	var o object
	o.set("program", p.Name)
	o.set("version", p.Version)
	o.set("digest", p.Digest)
	o.set("incomplete", p.Incomplete)
	if p.Failure != "" {
		o.set("failure", p.Failure)
	}
	o.set("short", p.Short)
	groups := []model.Command{}
	var walk func(c *model.Command)
	walk = func(c *model.Command) {
		if !c.Runnable {
			group := *c
			group.Commands = nil
			group.Path = append([]string{}, group.Path...)
			groups = append(groups, group)
		}
		for _, sub := range c.Commands {
			walk(sub)
		}
	}
	if p.Root != nil {
		walk(p.Root)
	}
	o.set("groups", groups)
	if len(skipped) > 0 {
		o.set("dangerous", findings(skipped))
	}
	return render(o)
}
