package catalog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// Schemas come from untrusted servers, and some clients resolve or expand references in
// them. A schema that the vetter rejects reaches no client: the input schema becomes
// any object, and the output schema is removed.

// anyObject replaces a rejected input schema.
var anyObject = []byte(`{"type":"object"}`)

// The members of a tool's _meta with the reason for a replaced schema.
const (
	metaInput  = "junctor/inputSchema"
	metaOutput = "junctor/outputSchema"
)

// Refused holds the reasons why the schemas of a tool were replaced. An empty reason
// means that the schema is the server's own.
type Refused struct{ Input, Output string }

// vetSchemas replaces the rejected schemas of a tool.
func vetSchemas(raw []byte, d Describe) ([]byte, Refused) {
	var r Refused
	if s := mcp.Member(raw, "inputSchema"); s != nil {
		if r.Input = schemaProblem(s, d); r.Input != "" {
			raw = mcp.SetMember(raw, "inputSchema", anyObject)
			raw = mcp.SetPath(raw, []string{"_meta", metaInput}, mcp.AppendText(nil, "replaced: "+r.Input))
		}
	}
	if s := mcp.Member(raw, "outputSchema"); s != nil {
		if r.Output = schemaProblem(s, d); r.Output != "" {
			raw = mcp.DeleteMember(raw, "outputSchema")
			raw = mcp.SetPath(raw, []string{"_meta", metaOutput}, mcp.AppendText(nil, "removed: "+r.Output))
		}
	}
	return raw, r
}

// schemaProblem returns the reason why a schema is rejected, or "".
func schemaProblem(s []byte, d Describe) string {
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
		if where := hiddenCharacters(s); where != "" {
			return fmt.Sprintf("the schema has invisible characters at %.200s", where)
		}
	}
	return ""
}

// notes returns notes about the rejected schemas of a tool.
func (r Refused) notes(tool string) (all []Note) {
	if r.Input != "" {
		all = append(all, Note{Text: fmt.Sprintf("tool %.64q: its input schema is replaced by one that accepts any object: %s", tool, r.Input)})
	}
	if r.Output != "" {
		all = append(all, Note{Text: fmt.Sprintf("tool %.64q: its output schema is removed: %s", tool, r.Output)})
	}
	return all
}

// reason returns the reason why one of the schemas is rejected, or "".
func (r Refused) reason() string {
	if r.Input != "" {
		return "its input schema is rejected: " + r.Input
	}
	if r.Output != "" {
		return "its output schema is rejected: " + r.Output
	}
	return ""
}
