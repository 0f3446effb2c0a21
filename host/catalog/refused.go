package catalog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// A tool's schemas are written by strangers and read by clients, some of which
// resolve references or expand them. A schema that the vetter refuses reaches no
// client: arguments may then be any object, and results are not described.

// anyObject stands in for an input schema that is refused.
var anyObject = []byte(`{"type":"object"}`)

// The members of a tool's _meta that say why a schema was replaced.
const (
	metaInput  = "junctor/inputSchema"
	metaOutput = "junctor/outputSchema"
)

// Refused says why the schemas of a tool are not those that its server sent;
// an empty text is about a schema that is.
type Refused struct{ Input, Output string }

// vetSchemas replaces what is refused of a tool's schemas.
func vetSchemas(raw []byte, d Describe) ([]byte, Refused) {
	var r Refused
	if s := mcp.Member(raw, "inputSchema"); s != nil {
		if r.Input = refusal(s, d); r.Input != "" {
			raw = mcp.SetMember(raw, "inputSchema", anyObject)
			raw = mcp.SetPath(raw, []string{"_meta", metaInput}, mcp.AppendText(nil, "replaced: "+r.Input))
		}
	}
	if s := mcp.Member(raw, "outputSchema"); s != nil {
		if r.Output = refusal(s, d); r.Output != "" {
			raw = mcp.DeleteMember(raw, "outputSchema")
			raw = mcp.SetPath(raw, []string{"_meta", metaOutput}, mcp.AppendText(nil, "removed: "+r.Output))
		}
	}
	return raw, r
}

// refusal says why a schema is refused; empty: it is not.
func refusal(s []byte, d Describe) string {
	if !bytes.HasPrefix(s, []byte("{")) {
		return "the schema is not an object"
	}
	if err := schema.Vet(s); err != nil {
		if vet, ok := errors.AsType[*schema.VetError](err); ok {
			return Visible(vet.Error())
		}
		return "the schema cannot be read"
	}
	if d != Verbatim {
		if where := disguised(s); where != "" {
			return fmt.Sprintf("the schema at %.200s has characters that cannot be seen", where)
		}
	}
	return ""
}

// remarks are what people should know about the refused schemas of a tool.
func (r Refused) remarks(tool string) (all []Note) {
	if r.Input != "" {
		all = append(all, Note{Text: fmt.Sprintf("tool %.64q: its input schema is replaced by one that takes any object: %s", tool, r.Input)})
	}
	if r.Output != "" {
		all = append(all, Note{Text: fmt.Sprintf("tool %.64q: its output schema is removed: %s", tool, r.Output)})
	}
	return all
}

// any returns why one of the schemas is refused; empty: none is.
func (r Refused) any() string {
	if r.Input != "" {
		return "its input schema is refused: " + r.Input
	}
	if r.Output != "" {
		return "its output schema is refused: " + r.Output
	}
	return ""
}
